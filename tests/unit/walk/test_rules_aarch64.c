/*
 * test_rules_aarch64 - the rules of aarch64, on any machine.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#define NATIVE_AARCH64
#include "frames.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define FUNCTION     (CODE + 0x100)

static struct mem *image_of_program(const uint8_t *program, size_t len)
{
	struct mem *mem = calloc(1, sizeof *mem);
	uint64_t cie = frame_put_usual_cie(mem);

	frame_put_fde(mem, cie, FUNCTION, 100, program, len);
	frame_put_end(mem);
	return mem;
}

static const struct {
	const char *name;
	uint8_t program[24];
	uint8_t len;
	uint64_t sp, ip, fp;
} supported[] = {
	{ "a leaf returns to x30", { 0 }, 1, SP, LR, FP },
	{ "stp x29,x30,[sp,#-32]!",
	  { 0x0e, 32, 0x9d, 4, 0x9e, 3 },
	  6,
	  SP + 32,
	  READ_FROM(SP + 8),
	  READ_FROM(SP) },
	{ "a frame pointer",
	  { 0x0c, 29, 32, 0x9d, 4, 0x9e, 3 },
	  7,
	  FP + 32,
	  READ_FROM(FP + 8),
	  READ_FROM(FP) },
	{ "a large frame",
	  { 0x0e, 0x90, 0x80, 0x02, 0x9d, 0x82, 0x20, 0x9e, 0x81, 0x20 },
	  10,
	  SP + 0x8010,
	  READ_FROM(SP + 8),
	  READ_FROM(SP) },
	{ "only x30 saved", { 0x0e, 16, 0x9e, 2 }, 4, SP + 16, READ_FROM(SP), FP },
	{ "a frame of a leaf", { 0x0e, 64 }, 2, SP + 64, LR, FP },
	{ "a signed return address",
	  { 0x2d, 0x0e, 16, 0x9d, 2, 0x9e, 1 },
	  7,
	  SP + 16,
	  READ_FROM(SP + 8),
	  READ_FROM(SP) },
	{ "signed with the pc",
	  { 0x2c, 0x0e, 16, 0x9d, 2, 0x9e, 1 },
	  7,
	  SP + 16,
	  READ_FROM(SP + 8),
	  READ_FROM(SP) },
	{ "x29 that is lost", { 0x07, 29 }, 2, SP, LR, 0 },
};

static void every_supported_program_leads_to_its_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(supported); i++) {
		struct mem *mem = image_of_program(supported[i].program, supported[i].len);
		struct native_image image = image_without_table(mem);
		struct native_regs regs = some_regs(FUNCTION + 8);
		struct native_step step;
		uint64_t rule = 0;
		enum walk_status status = native_rule_find(mem, &image, regs.ip, &rule);

		if (status == WALK_COMPLETE)
			status = native_step(mem, rule, &regs, &step);
		if (status != WALK_COMPLETE || regs.sp != supported[i].sp ||
		    regs.ip != supported[i].ip || regs.fp != supported[i].fp || regs.lr != 0 ||
		    step.is_last || step.is_exact)
			fail_msg("%s: status %d sp %#lx ip %#lx fp %#lx", supported[i].name,
				 status, regs.sp, regs.ip, regs.fp);
		free(mem);
	}
}

static const struct {
	const char *name;
	uint8_t program[16];
	uint8_t len;
} refused[] = {
	{ "CFA from another register", { 0x0c, 9, 16 }, 3 },
	{ "CFA by an expression", { 0x0f, 3, 0x8f, 0, 6 }, 5 },
	{ "x30 in another register", { 0x09, 30, 9 }, 3 },
	{ "an odd offset", { 0x0e, 12 }, 2 },
	{ "sp restored from memory", { 0x9f, 2 }, 2 },
};

static void what_is_not_supported_is_a_bad_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct mem *mem = image_of_program(refused[i].program, refused[i].len);
		struct native_image image = image_without_table(mem);
		uint64_t rule = 0;

		if (native_rule_find(mem, &image, FUNCTION, &rule) != WALK_BAD_RULE)
			fail_msg("%s", refused[i].name);
		free(mem);
	}
}

static uint64_t rule_of(const uint8_t *program, size_t len, struct mem **out_mem)
{
	struct mem *mem = image_of_program(program, len);
	struct native_image image = image_without_table(mem);
	uint64_t rule = 0;

	assert_int_equal(native_rule_find(mem, &image, FUNCTION, &rule), WALK_COMPLETE);
	*out_mem = mem;
	return rule;
}

static void the_signature_of_a_return_address_is_dropped(void **state)
{
	static const uint8_t program[] = { 0x2d, 0x0e, 16, 0x9d, 2, 0x9e, 1 };
	struct native_regs regs = some_regs(FUNCTION);
	struct native_step step;
	struct mem *mem;
	uint64_t rule = rule_of(program, sizeof program, &mem);

	(void)state;
	stack_set(mem, SP + 8, 0x002b000000412344);
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.ip, 0x412344);
	free(mem);
}

static void x30_is_used_once(void **state)
{
	struct native_regs regs = some_regs(FUNCTION);
	struct native_step step;
	struct mem *mem;
	uint64_t rule = rule_of((const uint8_t *)"", 1, &mem);

	(void)state;
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.ip, LR);
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_NO_PROGRESS);
	free(mem);
}

static void a_frame_that_does_not_lead_outwards_is_refused(void **state)
{
	static const uint8_t saved_on_the_spot[] = { 0x0e, 0, 0x9e, 1 };
	static const uint8_t frame_pointer[] = { 0x0c, 29, 16, 0x9d, 2, 0x9e, 1 };
	struct native_regs regs = some_regs(FUNCTION);
	struct native_step step;
	struct mem *mem;
	uint64_t rule = rule_of(saved_on_the_spot, sizeof saved_on_the_spot, &mem);

	(void)state;
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_NO_PROGRESS);
	free(mem);
	rule = rule_of(frame_pointer, sizeof frame_pointer, &mem);
	regs.fp = SP - 32;
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_NO_PROGRESS);
	regs.fp = STACK + STACK_LEN;
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_UNREADABLE);
	free(mem);
}

static void an_undefined_return_address_is_the_outermost_frame(void **state)
{
	struct native_regs regs = some_regs(FUNCTION);
	struct native_step step = { 0 };
	struct mem *mem;
	uint64_t rule = rule_of((const uint8_t *)"\x07\x1e", 2, &mem);

	(void)state;
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
	assert_true(step.is_last);
	free(mem);
}

/* mov x8,#139; svc #0: the kernel's trampoline has no rules. */
static void a_signal_frame_is_left_by_its_ucontext(void **state)
{
	static const uint32_t code[] = { 0xd2801168, 0xd4000001 };
	struct mem *mem = image_of_program((const uint8_t *)"", 1);
	struct native_image image = image_without_table(mem);

	(void)state;
	image_put(mem, CODE + 0x40, code, sizeof code);
	for (unsigned is_return = 0; is_return < 2; is_return++) {
		struct native_regs regs = some_regs(CODE + 0x40);
		struct native_step step;
		uint64_t rule = 0;

		assert_int_equal(native_rule_find(mem, &image, CODE + 0x40 - is_return, &rule),
				 WALK_COMPLETE);
		assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
		assert_true(step.is_exact);
		assert_int_equal(regs.fp, READ_FROM(SP + 312 + 29 * 8));
		assert_int_equal(regs.lr, READ_FROM(SP + 312 + 30 * 8));
		assert_int_equal(regs.sp, READ_FROM(SP + 312 + 31 * 8));
		assert_int_equal(regs.ip, READ_FROM(SP + 312 + 32 * 8));
	}
	free(mem);
}

static const struct {
	const char *name;
	uint32_t call;
	uint64_t fp, saved_fp;
	enum walk_status status;
} frame_pointers[] = {
	{ "bl", 0x94000010, FP, FP + 64, WALK_COMPLETE },
	{ "blr x3", 0xd63f0060, FP, FP + 64, WALK_COMPLETE },
	{ "blraa x3,x4", 0xd73f0864, FP, FP + 64, WALK_COMPLETE },
	{ "blraaz x3", 0xd63f087f, FP, FP + 64, WALK_COMPLETE },
	{ "the outermost frame", 0x94000010, FP, 0, WALK_COMPLETE },
	{ "b", 0x14000010, FP, FP + 64, WALK_NO_RULE },
	{ "br x3", 0xd61f0060, FP, FP + 64, WALK_NO_RULE },
	{ "x29 below sp", 0x94000010, SP - 16, FP + 64, WALK_NO_RULE },
	{ "x29 far away", 0x94000010, SP + (2 << 20), FP + 64, WALK_NO_RULE },
	{ "the saved x29 further in", 0x94000010, FP, FP - 64, WALK_NO_RULE },
};

static void a_frame_pointer_is_followed_only_if_all_is_plausible(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(frame_pointers); i++) {
		struct mem *mem = image_of_program((const uint8_t *)"", 1);
		struct native_regs regs = some_regs(CODE);

		image_put_u32(mem, FUNCTION - 4, frame_pointers[i].call);
		regs.fp = frame_pointers[i].fp;
		stack_set(mem, regs.fp, frame_pointers[i].saved_fp);
		stack_set(mem, regs.fp + 8, FUNCTION);
		enum walk_status status = native_step_frame_pointer(mem, &regs);
		if (status != frame_pointers[i].status)
			fail_msg("%s: %d", frame_pointers[i].name, status);
		if (status == WALK_COMPLETE) {
			assert_int_equal(regs.ip, FUNCTION);
			assert_int_equal(regs.sp, frame_pointers[i].fp + 16);
		}
		free(mem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_supported_program_leads_to_its_step),
		cmocka_unit_test(what_is_not_supported_is_a_bad_rule),
		cmocka_unit_test(the_signature_of_a_return_address_is_dropped),
		cmocka_unit_test(x30_is_used_once),
		cmocka_unit_test(a_frame_that_does_not_lead_outwards_is_refused),
		cmocka_unit_test(an_undefined_return_address_is_the_outermost_frame),
		cmocka_unit_test(a_signal_frame_is_left_by_its_ucontext),
		cmocka_unit_test(a_frame_pointer_is_followed_only_if_all_is_plausible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
