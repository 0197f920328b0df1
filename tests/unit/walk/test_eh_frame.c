/*
 * test_eh_frame - finding a function's record: encodings, tables, and what is damaged.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#define NATIVE_X86_64
#include "frames.h"

#define FUNCTION (CODE + 0x100)

/* The stack pointer after a step at `ip`, less what it was; 0 if there is no rule. */
static uint64_t frame_size(struct mem *mem, const struct native_image *image, uint64_t ip)
{
	struct native_regs regs = some_regs(ip);
	struct native_step step;
	uint64_t rule = 0;

	if (native_rule_find(mem, image, ip, &rule) != WALK_COMPLETE ||
	    native_step(mem, rule, &regs, &step) != WALK_COMPLETE)
		return 0;
	return regs.sp - SP;
}

static enum walk_status status_of(struct mem *mem, const struct native_image *image,
				  uint64_t ip)
{
	uint64_t rule = 0;

	return native_rule_find(mem, image, ip, &rule);
}

static const struct {
	const char *name;
	uint8_t encoding;
	uint8_t len;
	int is_pcrel;
} encodings[] = {
	{ "absptr", 0x00, 8, 0 },       { "udata2", 0x02, 2, 0 },
	{ "udata4", 0x03, 4, 0 },       { "udata8", 0x04, 8, 0 },
	{ "sdata2", 0x0a, 2, 0 },       { "sdata4", 0x0b, 4, 0 },
	{ "sdata8", 0x0c, 8, 0 },       { "pcrel sdata4", 0x1b, 4, 1 },
	{ "pcrel sdata8", 0x1c, 8, 1 },
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* An FDE whose addresses are in the given encoding, with a set_loc in its program. */
static void put_encoded(struct mem *mem, uint64_t cie, uint64_t function, uint8_t len,
			int is_pcrel)
{
	uint64_t begin = mem->frame_len;
	uint64_t value, range = 100;

	frame_put_u32(mem, 0);
	frame_put_u32(mem, mem->frame_len - cie);
	value = function - (is_pcrel ? EH_FRAME + mem->frame_len : 0);
	frame_put(mem, &value, len);
	frame_put(mem, &range, len);
	frame_put(mem, "", 1);
	frame_put(mem, "\x01", 1); /* DW_CFA_set_loc */
	value = function + 30 - (is_pcrel ? EH_FRAME + mem->frame_len : 0);
	frame_put(mem, &value, len);
	frame_put(mem, "\x0e\x20", 2);
	frame_end_record(mem, begin);
}

static void every_encoding_of_addresses_is_read(void **state)
{
	static const uint8_t program[] = { 0x0c, 7, 8, 0x90, 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(encodings); i++) {
		struct mem *mem = calloc(1, sizeof *mem);
		int is_short = encodings[i].len == 2;
		uint64_t function = is_short ? 0x100 : FUNCTION;
		uint64_t cie = frame_put_cie(mem, "zR", &encodings[i].encoding, 1, program,
					     sizeof program);
		put_encoded(mem, cie, function, encodings[i].len, encodings[i].is_pcrel);
		frame_put_end(mem);
		struct native_image image = image_without_table(mem);
		if (is_short) /* 16 bits reach only the first addresses there are */
			image.start = 0;
		if (frame_size(mem, &image, function + 29) != 8 ||
		    frame_size(mem, &image, function + 30) != 32 ||
		    frame_size(mem, &image, function + 100) != 0)
			fail_msg("%s", encodings[i].name);
		free(mem);
	}
}

static void encodings_that_are_not_used_are_bad_rules(void **state)
{
	static const uint8_t unknown[] = { 0x0f, 0x20, 0x2b, 0x40, 0x50, 0x9b, 0x08 };
	static const uint8_t program[] = { 0x0c, 7, 8, 0x90, 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(unknown); i++) {
		struct mem *mem = calloc(1, sizeof *mem);
		uint64_t cie =
			frame_put_cie(mem, "zR", &unknown[i], 1, program, sizeof program);
		put_encoded(mem, cie, FUNCTION, 4, 0);
		struct native_image image = image_without_table(mem);
		assert_int_equal(status_of(mem, &image, FUNCTION), WALK_BAD_RULE);
		free(mem);
	}
}

static const struct {
	const char *augmentation;
	uint8_t data[12];
	uint8_t len;
	enum walk_status status;
} augmentations[] = {
	{ "zR", { 0x1b }, 1, WALK_COMPLETE },
	{ "zPLR", { 0x9b, 1, 2, 3, 4, 0x03, 0x1b }, 7, WALK_COMPLETE },
	{ "zPLR", { 0x03, 1, 2, 3, 4, 0x1b, 0x1b }, 7, WALK_COMPLETE },
	{ "zRS", { 0x1b }, 1, WALK_COMPLETE },
	{ "zRB", { 0x1b }, 1, WALK_COMPLETE },
	{ "zPLRS", { 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0x1b, 0x1b }, 11, WALK_COMPLETE },
	{ "zQ", { 0x1b }, 1, WALK_BAD_RULE },
	{ "eh", { 0 }, 8, WALK_BAD_RULE },
	{ "zRRRRRRRRR", { 0x1b }, 1, WALK_BAD_RULE },
};

static void augmentations_are_read_or_refused(void **state)
{
	static const uint8_t program[] = { 0x0c, 7, 8, 0x90, 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(augmentations); i++) {
		struct mem *mem = calloc(1, sizeof *mem);
		uint64_t cie =
			frame_put_cie(mem, augmentations[i].augmentation, augmentations[i].data,
				      augmentations[i].len, program, sizeof program);
		frame_put_fde(mem, cie, FUNCTION, 100, "", 1);
		frame_put_end(mem);
		struct native_image image = image_without_table(mem);
		if (status_of(mem, &image, FUNCTION + 5) != augmentations[i].status)
			fail_msg("%s", augmentations[i].augmentation);
		free(mem);
	}
}

/* Forty functions of 16 bytes, 32 apart; function i has a frame of 8 * (i + 1). */
#define FUNCTIONS 40

static struct mem *image_of_functions(uint64_t *out_functions, uint64_t *out_fdes)
{
	struct mem *mem = calloc(1, sizeof *mem);
	uint64_t cie = frame_put_usual_cie(mem);

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		/* def_cfa_offset, as a number of two bytes */
		uint8_t program[] = { 0x0e, (uint8_t)(0x80 | (8 * (i + 1) & 0x7f)),
				      (uint8_t)(8 * (i + 1) >> 7) };
		out_functions[i] = FUNCTION + 32 * i;
		out_fdes[i] =
			frame_put_fde(mem, cie, out_functions[i], 16, program, sizeof program);
	}
	frame_put_end(mem);
	return mem;
}

static void check_functions(struct mem *mem, const struct native_image *image)
{
	/* No instruction there is one that could be understood without a rule. */
	memset(mem->image, 0x06, EH_HDR - IMAGE);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		assert_int_equal(frame_size(mem, image, FUNCTION + 32 * i), 8 * (i + 1));
		assert_int_equal(frame_size(mem, image, FUNCTION + 32 * i + 15), 8 * (i + 1));
		assert_int_equal(status_of(mem, image, FUNCTION + 32 * i + 16), WALK_NO_RULE);
	}
	assert_int_equal(status_of(mem, image, FUNCTION - 1), WALK_NO_RULE);
}

static void functions_are_found_by_the_table(void **state)
{
	uint64_t functions[FUNCTIONS], fdes[FUNCTIONS];
	struct mem *mem = image_of_functions(functions, fdes);
	struct native_image image = image_with_table(FUNCTIONS);

	(void)state;
	table_put(mem, functions, fdes, FUNCTIONS);
	check_functions(mem, &image);
	mem->reads = 0;
	status_of(mem, &image, FUNCTION + 32 * 7);
	assert_in_range(mem->reads, 1, 16);
	free(mem);
}

static void functions_are_found_without_a_table(void **state)
{
	uint64_t functions[FUNCTIONS], fdes[FUNCTIONS];
	struct mem *mem = image_of_functions(functions, fdes);
	struct native_image image = image_without_table(mem);

	(void)state;
	check_functions(mem, &image);
	free(mem);
}

static void a_header_without_a_table_still_says_where_the_section_is(void **state)
{
	static const uint8_t head[4] = { 1, 0x1b, 0xff, 0xff };
	uint64_t functions[FUNCTIONS], fdes[FUNCTIONS];
	struct mem *mem = image_of_functions(functions, fdes);
	struct native_image image = image_with_table(FUNCTIONS);

	(void)state;
	table_put(mem, functions, fdes, FUNCTIONS);
	image_put(mem, EH_HDR, head, sizeof head);
	check_functions(mem, &image);
	free(mem);
}

static void an_address_outside_the_image_has_no_module(void **state)
{
	uint64_t functions[FUNCTIONS], fdes[FUNCTIONS];
	struct mem *mem = image_of_functions(functions, fdes);
	struct native_image image = image_without_table(mem);

	(void)state;
	assert_int_equal(status_of(mem, &image, IMAGE - 1), WALK_NO_MODULE);
	assert_int_equal(status_of(mem, &image, IMAGE + IMAGE_LEN), WALK_NO_MODULE);
	free(mem);
}

/* What is written over an image with a table, and what must come of it at FUNCTION. */
static const struct {
	const char *name;
	uint64_t addr;
	uint32_t word;
	enum walk_status status;
} damages[] = {
	{ "more entries than the header holds: no table, no section", EH_HDR + 8, 0x7fffffff,
	  WALK_NO_RULE },
	{ "another version of the header", EH_HDR, 0x3b031b02, WALK_NO_RULE },
	{ "an entry that leads out of the image", EH_HDR + 16, 0x7fffffff, WALK_BAD_RULE },
	{ "an entry that leads to a CIE", EH_HDR + 16, EH_FRAME - EH_HDR, WALK_BAD_RULE },
	{ "a CIE of another version", EH_FRAME + 8, 0x00527a09, WALK_BAD_RULE },
	{ "a CIE longer than the section", EH_FRAME, 0x7ffffff0, WALK_BAD_RULE },
	{ "a 64-bit CIE", EH_FRAME, 0xffffffff, WALK_BAD_RULE },
	{ "a CIE without end", EH_FRAME, 0, WALK_BAD_RULE },
	{ "a CIE cut short", EH_FRAME, 6, WALK_BAD_RULE },
	{ "an FDE cut short", EH_FRAME + 28, 6, WALK_BAD_RULE },
	{ "an FDE whose CIE lies before the section", EH_FRAME + 32, 0x10000, WALK_BAD_RULE },
	{ "an FDE that is its own CIE", EH_FRAME + 32, 4, WALK_BAD_RULE },
	{ "an FDE with an endless augmentation", EH_FRAME + 44, 0x7f7f7f7f, WALK_BAD_RULE },
};

static void damage_gives_a_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(damages); i++) {
		uint64_t functions[FUNCTIONS], fdes[FUNCTIONS];
		struct mem *mem = image_of_functions(functions, fdes);
		struct native_image image = image_with_table(FUNCTIONS);

		assert_int_equal(fdes[0], 28);
		table_put(mem, functions, fdes, FUNCTIONS);
		memset(mem->image, 0x06, EH_HDR - IMAGE);
		assert_int_equal(status_of(mem, &image, FUNCTION), WALK_COMPLETE);
		image_put_u32(mem, damages[i].addr, damages[i].word);
		enum walk_status status = status_of(mem, &image, FUNCTION);
		if (status != damages[i].status)
			fail_msg("%s: %d", damages[i].name, status);
		free(mem);
	}
}

static void a_record_may_not_leave_the_section(void **state)
{
	uint64_t functions[FUNCTIONS], fdes[FUNCTIONS];
	struct mem *mem = image_of_functions(functions, fdes);
	struct native_image image = image_without_table(mem);

	(void)state;
	image.eh_frame_len = fdes[1];
	assert_int_equal(status_of(mem, &image, FUNCTION), WALK_COMPLETE);
	image.eh_frame_len = fdes[1] - 1;
	assert_int_equal(status_of(mem, &image, FUNCTION), WALK_BAD_RULE);
	free(mem);
}

static void a_section_may_end_right_before_a_gap(void **state)
{
	uint64_t functions[FUNCTIONS], fdes[FUNCTIONS];
	struct mem *mem = image_of_functions(functions, fdes);
	struct native_image image = image_with_table(FUNCTIONS);

	(void)state;
	table_put(mem, functions, fdes, FUNCTIONS);
	mem->image_gap = EH_FRAME + mem->frame_len - 4; /* nor need there be a terminator */
	assert_int_equal(frame_size(mem, &image, functions[FUNCTIONS - 1]), 8 * FUNCTIONS);
	mem->image_gap--;
	assert_int_equal(frame_size(mem, &image, functions[FUNCTIONS - 2]),
			 8 * (FUNCTIONS - 1));
	free(mem);
}

static void a_section_without_end_is_scanned_a_bounded_number_of_times(void **state)
{
	struct mem *mem = calloc(1, sizeof *mem);
	struct native_image image = image_with_table(0);
	static const uint8_t head[4] = { 1, 0x1b, 0xff, 0xff };

	(void)state;
	image_put(mem, EH_HDR, head, sizeof head);
	image_put_u32(mem, EH_HDR + 4, EH_FRAME - (EH_HDR + 4));
	/* CIEs of no size, to the end of the image. */
	for (uint64_t at = EH_FRAME; at < IMAGE + IMAGE_LEN; at += 8)
		image_put_u32(mem, at, 4);
	memset(mem->image, 0x06, EH_HDR - IMAGE);
	assert_int_equal(status_of(mem, &image, FUNCTION), WALK_NO_RULE);
	assert_in_range(mem->reads, 1, IMAGE_LEN);
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_encoding_of_addresses_is_read),
		cmocka_unit_test(encodings_that_are_not_used_are_bad_rules),
		cmocka_unit_test(augmentations_are_read_or_refused),
		cmocka_unit_test(functions_are_found_by_the_table),
		cmocka_unit_test(functions_are_found_without_a_table),
		cmocka_unit_test(a_header_without_a_table_still_says_where_the_section_is),
		cmocka_unit_test(an_address_outside_the_image_has_no_module),
		cmocka_unit_test(damage_gives_a_reason),
		cmocka_unit_test(a_record_may_not_leave_the_section),
		cmocka_unit_test(a_section_may_end_right_before_a_gap),
		cmocka_unit_test(a_section_without_end_is_scanned_a_bounded_number_of_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
