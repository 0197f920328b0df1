/*
 * test_rules_x86_64 - rules made by hand, each with the step it must lead to.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#define NATIVE_X86_64
#include "frames.h"

/* A program for a function of 100 bytes, looked at `at` bytes after its begin. */
struct rule_case {
	const char *name;
	uint8_t program[40];
	uint8_t len;
	uint8_t at;
	/* What a step must give; 0 for a register that stays. */
	uint64_t cfa, ip, fp, bx;
};

static const struct rule_case supported[] = {
	{ "the CIE's row holds from the start", { 0 }, 1, 0, SP + 8, READ_FROM(SP), 0, 0 },
	{ "a row ends where the next begins",
	  { 0x44, 0x0e, 16 },
	  3,
	  3,
	  SP + 8,
	  READ_FROM(SP),
	  0,
	  0 },
	{ "advance_loc begins a row",
	  { 0x44, 0x0e, 16 },
	  3,
	  4,
	  SP + 16,
	  READ_FROM(SP + 8),
	  0,
	  0 },
	{ "advance_loc1", { 0x02, 60, 0x0e, 16 }, 4, 60, SP + 16, READ_FROM(SP + 8), 0, 0 },
	{ "advance_loc2", { 0x03, 60, 0, 0x0e, 16 }, 5, 60, SP + 16, READ_FROM(SP + 8), 0, 0 },
	{ "advance_loc4",
	  { 0x04, 60, 0, 0, 0, 0x0e, 16 },
	  7,
	  60,
	  SP + 16,
	  READ_FROM(SP + 8),
	  0,
	  0 },
	{ "advance_loc8",
	  { 0x1d, 60, 0, 0, 0, 0, 0, 0, 0, 0x0e, 16 },
	  11,
	  60,
	  SP + 16,
	  READ_FROM(SP + 8),
	  0,
	  0 },
	{ "offset of rbp",
	  { 0x0e, 16, 0x86, 2 },
	  4,
	  9,
	  SP + 16,
	  READ_FROM(SP + 8),
	  READ_FROM(SP),
	  0 },
	{ "offset of rbx",
	  { 0x0e, 24, 0x83, 3 },
	  4,
	  9,
	  SP + 24,
	  READ_FROM(SP + 16),
	  0,
	  READ_FROM(SP) },
	{ "offset of a register that is not followed",
	  { 0x8c, 3 },
	  2,
	  9,
	  SP + 8,
	  READ_FROM(SP),
	  0,
	  0 },
	{ "offset_extended",
	  { 0x0e, 16, 0x05, 6, 2 },
	  5,
	  9,
	  SP + 16,
	  READ_FROM(SP + 8),
	  READ_FROM(SP),
	  0 },
	{ "offset_extended_sf",
	  { 0x0e, 16, 0x11, 6, 2 },
	  5,
	  9,
	  SP + 16,
	  READ_FROM(SP + 8),
	  READ_FROM(SP),
	  0 },
	{ "GNU_negative_offset_extended",
	  { 0x2f, 6, 2 },
	  3,
	  9,
	  SP + 8,
	  READ_FROM(SP),
	  READ_FROM(SP + 24),
	  0 },
	{ "restore", { 0x86, 2, 0x41, 0xc6 }, 4, 9, SP + 8, READ_FROM(SP), 0, 0 },
	{ "restore goes back to the CIE's rule",
	  { 0x90, 3, 0x41, 0xd0 },
	  4,
	  9,
	  SP + 8,
	  READ_FROM(SP),
	  0,
	  0 },
	{ "offset_extended_sf the other way",
	  { 0x11, 6, 0x7e },
	  3,
	  9,
	  SP + 8,
	  READ_FROM(SP),
	  READ_FROM(SP + 24),
	  0 },
	{ "restore_extended", { 0x86, 2, 0x41, 0x06, 6 }, 5, 9, SP + 8, READ_FROM(SP), 0, 0 },
	{ "remember and restore_state",
	  { 0x0a, 0x0e, 64, 0x86, 2, 0x42, 0x0b },
	  7,
	  9,
	  SP + 8,
	  READ_FROM(SP),
	  0,
	  0 },
	{ "what was remembered waits its turn",
	  { 0x0a, 0x0e, 64, 0x86, 2, 0x42, 0x0b },
	  7,
	  1,
	  SP + 64,
	  READ_FROM(SP + 56),
	  READ_FROM(SP + 48),
	  0 },
	{ "states nest",
	  { 0x0a, 0x0e, 24, 0x0a, 0x0e, 64, 0x0b, 0x42, 0x0b },
	  9,
	  1,
	  SP + 24,
	  READ_FROM(SP + 16),
	  0,
	  0 },
	{ "def_cfa", { 0x0c, 6, 16 }, 3, 9, FP + 16, READ_FROM(FP + 8), 0, 0 },
	{ "def_cfa_sf", { 0x12, 6, 0x7e }, 3, 9, FP + 16, READ_FROM(FP + 8), 0, 0 },
	{ "def_cfa_register", { 0x0e, 16, 0x0d, 6 }, 4, 9, FP + 16, READ_FROM(FP + 8), 0, 0 },
	{ "def_cfa_offset_sf", { 0x13, 0x7e }, 2, 9, SP + 16, READ_FROM(SP + 8), 0, 0 },
	{ "CFA from rbx, as in ld.so",
	  { 0x0c, 3, 16, 0x83, 2 },
	  5,
	  9,
	  BX + 16,
	  READ_FROM(BX + 8),
	  0,
	  READ_FROM(BX) },
	{ "CFA from a leaf's register", { 0x0c, 10, 0 }, 3, 9, LR, READ_FROM(LR - 8), 0, 0 },
	{ "a large frame",
	  { 0x0e, 0x80, 0x80, 0x02 },
	  4,
	  9,
	  SP + 0x8000,
	  READ_FROM(SP + 0x7ff8),
	  0,
	  0 },
	{ "same_value", { 0x86, 2, 0x08, 6 }, 4, 9, SP + 8, READ_FROM(SP), 0, 0 },
	{ "an undefined rbp is lost", { 0x07, 6 }, 2, 9, SP + 8, READ_FROM(SP), 1, 0 },
	{ "rbp in another register is lost",
	  { 0x09, 6, 9 },
	  3,
	  9,
	  SP + 8,
	  READ_FROM(SP),
	  1,
	  0 },
	{ "rbx out of reach is lost",
	  { 0x11, 3, 0x80, 0x80, 1 },
	  5,
	  9,
	  SP + 8,
	  READ_FROM(SP),
	  0,
	  1 },
	{ "the return address in a register", { 0x0e, 0, 0x09, 16, 5 }, 5, 9, SP, LR, 0, 0 },
	{ "GNU_args_size",
	  { 0x2e, 0xff, 0x7f, 0x0e, 16 },
	  5,
	  9,
	  SP + 16,
	  READ_FROM(SP + 8),
	  0,
	  0 },
	{ "nop", { 0, 0, 0x0e, 16 }, 4, 9, SP + 16, READ_FROM(SP + 8), 0, 0 },
	{ "rsp as CFA + 0", { 0x14, 7, 0 }, 3, 9, SP + 8, READ_FROM(SP), 0, 0 },
	{ "an expression that is only a sum",
	  { 0x0f, 2, 0x77, 24 },
	  4,
	  9,
	  SP + 24,
	  READ_FROM(SP + 16),
	  0,
	  0 },
	{ "gcc's realigned stack",
	  { 0x0f, 3, 0x76, 0x78, 6, 0x10, 6, 2, 0x76, 0, 0x10, 3, 2, 0x76, 0x70 },
	  15,
	  9,
	  READ_FROM(FP - 8),
	  READ_FROM(READ_FROM(FP - 8) - 8),
	  READ_FROM(FP),
	  READ_FROM(FP - 16) },
	{ "OpenSSL's realigned stack",
	  { 0x0f, 5, 0x77, 40, 6, 0x23, 8, 0x86, 2 },
	  9,
	  9,
	  READ_FROM(SP + 40) + 8,
	  READ_FROM(READ_FROM(SP + 40)),
	  READ_FROM(READ_FROM(SP + 40) - 8),
	  0 },
	{ "SBCL's call into Lisp, which has pushed rbp once more",
	  { 0x0f, 5, 0x76, 0, 6, 0x40, 0x22, 0x86, 2 },
	  9,
	  9,
	  READ_FROM(FP) + 16,
	  READ_FROM(READ_FROM(FP) + 8),
	  READ_FROM(READ_FROM(FP)),
	  0 },
	{ "OCaml 5's, where a fiber begins",
	  { 0x0f, 8, 0x77, 56, 6, 0x23, 0, 6, 0x23, 8 },
	  10,
	  9,
	  READ_FROM(READ_FROM(SP + 56)) + 8,
	  READ_FROM(READ_FROM(READ_FROM(SP + 56))),
	  0,
	  0 },
	{ "a dereferenced rbx",
	  { 0x0f, 3, 0x73, 0, 6 },
	  5,
	  9,
	  READ_FROM(BX),
	  READ_FROM(READ_FROM(BX) - 8),
	  0,
	  0 },
	{ "a complicated rbp is lost",
	  { 0x10, 6, 3, 0x76, 0, 6 },
	  6,
	  9,
	  SP + 8,
	  READ_FROM(SP),
	  1,
	  0 },
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* 1 stands for "lost", which a step makes 0. */
static uint64_t expected(uint64_t wanted, uint64_t before)
{
	return wanted == 0 ? before : wanted == 1 ? 0 : wanted;
}

static struct mem *image_of_program(const uint8_t *program, size_t len)
{
	struct mem *mem = calloc(1, sizeof *mem);
	uint64_t cie = frame_put_usual_cie(mem);

	frame_put_fde(mem, cie, CODE + 0x100, 100, program, len);
	frame_put_end(mem);
	return mem;
}

static void every_supported_program_leads_to_its_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(supported); i++) {
		const struct rule_case *c = &supported[i];
		struct native_regs regs = some_regs(CODE + 0x100 + c->at);
		struct native_step step;
		uint64_t rule = 0;

		struct mem *mem = image_of_program(c->program, c->len);
		struct native_image image = image_without_table(mem);
		enum walk_status status = native_rule_find(mem, &image, regs.ip, &rule);
		if (status == WALK_COMPLETE)
			status = native_step(mem, rule, &regs, &step);
		if (status != WALK_COMPLETE || regs.sp != c->cfa || regs.ip != c->ip ||
		    regs.fp != expected(c->fp, FP) || regs.bx != expected(c->bx, BX) ||
		    step.is_last || step.is_exact)
			fail_msg("%s: status %d sp %#lx ip %#lx fp %#lx bx %#lx", c->name,
				 status, regs.sp, regs.ip, regs.fp, regs.bx);
		assert_int_equal(regs.lr, 0);
		free(mem);
	}
}

static const struct {
	const char *name;
	uint8_t program[24];
	uint8_t len;
} refused[] = {
	{ "an unknown instruction", { 0x3f }, 1 },
	{ "restore_state without a state", { 0x0b }, 1 },
	{ "too many states", { 0x0a, 0x0a, 0x0a, 0x0a, 0x0a }, 5 },
	{ "def_cfa_register after an expression", { 0x0f, 3, 0x77, 0, 6, 0x0d, 6 }, 7 },
	{ "def_cfa_offset after an expression", { 0x0f, 3, 0x77, 0, 6, 0x0e, 16 }, 7 },
	{ "a register's expression longer than the program", { 0x10, 12, 60, 0x77 }, 4 },
	{ "an expression longer than the program", { 0x0f, 60, 0x77 }, 3 },
	{ "an expression whose end wraps around",
	  { 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 },
	  11 },
	{ "a number that does not end",
	  { 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	  12 },
	{ "an offset beyond 32 bits", { 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f }, 8 },
	/* A program of 7 + 8 n bytes has no padding behind it. */
	{ "an operand cut off", { 0, 0, 0, 0, 0, 0, 0x0c }, 7 },
	{ "CFA from an element of an array (OpenSSL)",
	  { 0x0f, 12, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 6, 0x23, 8, 0x22, 0x22 },
	  14 },
	{ "rsp restored from memory (setcontext)", { 0x87, 3 }, 2 },
	{ "the return address elsewhere", { 0x90, 3 }, 2 },
	{ "the return address untouched", { 0x08, 16 }, 2 },
	{ "CFA from a register that does not exist", { 0x0c, 99, 8 }, 3 },
	{ "an expression with an odd sum", { 0x0f, 5, 0x77, 8, 6, 0x23, 3 }, 7 },
};

static void what_is_damaged_or_not_supported_is_a_bad_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct mem *mem = image_of_program(refused[i].program, refused[i].len);
		struct native_image image = image_without_table(mem);
		uint64_t rule = 0;
		enum walk_status status =
			native_rule_find(mem, &image, CODE + 0x100 + 50, &rule);

		if (status != WALK_BAD_RULE || rule != 0)
			fail_msg("%s: status %d rule %#lx", refused[i].name, status, rule);
		free(mem);
	}
}

static void an_undefined_return_address_is_the_outermost_frame(void **state)
{
	static const uint8_t program[] = { 0x07, 16 };
	struct mem *mem = image_of_program(program, sizeof program);
	struct native_image image = image_without_table(mem);
	struct native_regs regs = some_regs(CODE + 0x120);
	struct native_regs before = regs;
	struct native_step step = { 0 };
	uint64_t rule = 0;

	(void)state;
	assert_int_equal(native_rule_find(mem, &image, regs.ip, &rule), WALK_COMPLETE);
	assert_int_not_equal(rule, 0);
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
	assert_true(step.is_last);
	assert_memory_equal(&regs, &before, sizeof regs);
	free(mem);
}

static void plt_stubs_have_their_threshold_in_the_rule(void **state)
{
	static const uint8_t thresholds[] = { 10, 11, 6 };

	(void)state;
	for (size_t i = 0; i < COUNT(thresholds); i++) {
		uint8_t program[] = { 0x0f, 11, 0x77, 8,    0x80, 0,   0x3f,
				      0x1a, 0,  0x2a, 0x33, 0x24, 0x22 };
		program[8] = (uint8_t)(0x30 + thresholds[i]);
		struct mem *mem = image_of_program(program, sizeof program);
		struct native_image image = image_without_table(mem);

		for (unsigned at = 0; at < 32; at++) {
			struct native_regs regs = some_regs(CODE + 0x100 + at);
			struct native_step step;
			uint64_t rule = 0;
			uint64_t pushed = (at & 15) >= thresholds[i] ? 8 : 0;
			assert_int_equal(native_rule_find(mem, &image, regs.ip, &rule),
					 WALK_COMPLETE);
			assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
			assert_int_equal(regs.sp, SP + 8 + pushed);
			assert_int_equal(regs.ip, READ_FROM(SP + pushed));
		}
		free(mem);
	}
}

/* glibc's __restore_rt: every register is an expression. */
static void a_signal_frame_is_left_by_its_ucontext(void **state)
{
	static const uint8_t program[] = { 0x0f, 4,    0x77, 0xa0, 1,    6,    0x10, 6,
					   3,    0x77, 0xf8, 0,    0x10, 3,    3,    0x77,
					   0x80, 1,    0x10, 7,    3,    0x77, 0xa0, 1,
					   0x10, 16,   3,    0x77, 0xa8, 1 };
	struct mem *mem = calloc(1, sizeof *mem);
	uint64_t cie = frame_put_cie(mem, "zRS", "\x1b", 1, "", 1);
	struct native_regs regs = some_regs(CODE + 0x100);
	struct native_step step;
	uint64_t rule = 0;

	(void)state;
	frame_put_fde(mem, cie, CODE + 0x100, 20, program, sizeof program);
	struct native_image image = image_without_table(mem);
	stack_set(mem, SP + 160, STACK + 0x40); /* another stack, further in */
	assert_int_equal(native_rule_find(mem, &image, regs.ip, &rule), WALK_COMPLETE);
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
	assert_true(step.is_exact);
	assert_false(step.is_last);
	assert_int_equal(regs.sp, STACK + 0x40);
	assert_int_equal(regs.ip, READ_FROM(SP + 168));
	assert_int_equal(regs.fp, READ_FROM(SP + 120));
	assert_int_equal(regs.bx, READ_FROM(SP + 128));
	free(mem);
}

/* CFA = rbx + 16, and *(rsp + 8) + 8: the stack was left, for one further out or further in. */
static void a_stack_that_was_left_for_another_may_be_further_in(void **state)
{
	static const struct {
		uint8_t program[8], len;
	} left[] = { { { 0x0c, 3, 16 }, 3 }, { { 0x0f, 5, 0x77, 8, 6, 0x23, 8 }, 7 } };

	(void)state;
	for (size_t i = 0; i < COUNT(left); i++) {
		struct mem *mem = image_of_program(left[i].program, left[i].len);
		struct native_image image = image_without_table(mem);
		struct native_regs regs = some_regs(CODE + 0x150);
		struct native_step step;
		uint64_t rule = 0;

		regs.sp = STACK + 0x200;
		regs.bx = STACK + 0x30;
		stack_set(mem, regs.sp + 8, STACK + 0x38);
		assert_int_equal(native_rule_find(mem, &image, regs.ip, &rule), WALK_COMPLETE);
		assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
		assert_int_equal(regs.sp, STACK + 0x40);
		free(mem);
	}
}

static const struct {
	const char *name;
	uint8_t program[8];
	uint8_t len;
	enum walk_status status;
} steps_refused[] = {
	{ "a CFA that is rsp", { 0x0e, 0 }, 2, WALK_NO_PROGRESS },
	{ "a CFA below rsp", { 0x13, 1 }, 2, WALK_NO_PROGRESS },
	{ "a CFA that is not aligned", { 0x0e, 12 }, 2, WALK_NO_PROGRESS },
	{ "a CFA off the stack", { 0x0e, 0x80, 0x80, 0x80, 1 }, 5, WALK_UNREADABLE },
	{ "a saved rbp off the stack", { 0x10, 6, 3, 0x77, 0xf8, 0x60 }, 6, WALK_UNREADABLE },
};

static void a_step_that_does_not_lead_outwards_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(steps_refused); i++) {
		struct mem *mem =
			image_of_program(steps_refused[i].program, steps_refused[i].len);
		struct native_image image = image_without_table(mem);
		struct native_regs regs = some_regs(CODE + 0x150);
		regs.sp = STACK + 0x100;
		struct native_regs before = regs;
		struct native_step step;
		uint64_t rule = 0;

		assert_int_equal(native_rule_find(mem, &image, regs.ip, &rule), WALK_COMPLETE);
		if (native_step(mem, rule, &regs, &step) != steps_refused[i].status)
			fail_msg("%s", steps_refused[i].name);
		assert_memory_equal(&regs, &before, sizeof regs);
		free(mem);
	}
}

/* pop %rbp; ret: the slot lies below the stack pointer, where a copy of the stack has no bytes. */
static void a_register_that_was_popped_keeps_its_value_where_its_slot_is_not_there(void **state)
{
	static const uint8_t program[] = { 0x0e, 8, 0x86, 2 };
	struct mem *mem = image_of_program(program, sizeof program);
	struct native_image image = image_without_table(mem);
	struct native_regs regs = some_regs(CODE + 0x150);
	struct native_step step;
	uint64_t rule = 0;

	(void)state;
	regs.sp = STACK;
	assert_int_equal(native_rule_find(mem, &image, regs.ip, &rule), WALK_COMPLETE);
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.fp, FP);
	assert_int_equal(regs.sp, STACK + 8);
	free(mem);
}

/* CFA = r10; the return address in rdi. */
static void a_leaf_register_that_is_not_known_is_a_bad_rule(void **state)
{
	static const struct {
		uint8_t program[5];
		uint8_t len, number;
	} leaves[] = { { { 0x0c, 10, 0 }, 3, 10 }, { { 0x0e, 0, 0x09, 16, 5 }, 5, 5 } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct mem *mem = image_of_program(leaves[i].program, leaves[i].len);
		struct native_image image = image_without_table(mem);
		struct native_regs regs = some_regs(CODE + 0x120);
		struct native_step step;
		uint64_t rule = 0;

		assert_int_equal(native_rule_find(mem, &image, regs.ip, &rule), WALK_COMPLETE);
		assert_int_equal(native_rule_leaf_register(rule), leaves[i].number);
		regs.lr = 0;
		assert_int_equal(native_step(mem, rule, &regs, &step), WALK_BAD_RULE);
		free(mem);
	}
}

static void a_return_address_of_zero_is_the_outermost_frame(void **state)
{
	struct mem *mem = image_of_program((const uint8_t *)"", 1);
	struct native_image image = image_without_table(mem);
	struct native_regs regs = some_regs(CODE + 0x120);
	struct native_regs before = regs;
	struct native_step step = { 0 };
	uint64_t rule = 0;

	(void)state;
	stack_set(mem, SP, 0);
	assert_int_equal(native_rule_find(mem, &image, regs.ip, &rule), WALK_COMPLETE);
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
	assert_true(step.is_last);
	assert_memory_equal(&regs, &before, sizeof regs);
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_supported_program_leads_to_its_step),
		cmocka_unit_test(what_is_damaged_or_not_supported_is_a_bad_rule),
		cmocka_unit_test(an_undefined_return_address_is_the_outermost_frame),
		cmocka_unit_test(plt_stubs_have_their_threshold_in_the_rule),
		cmocka_unit_test(a_signal_frame_is_left_by_its_ucontext),
		cmocka_unit_test(a_stack_that_was_left_for_another_may_be_further_in),
		cmocka_unit_test(a_step_that_does_not_lead_outwards_is_refused),
		cmocka_unit_test(
			a_register_that_was_popped_keeps_its_value_where_its_slot_is_not_there),
		cmocka_unit_test(a_leaf_register_that_is_not_known_is_a_bad_rule),
		cmocka_unit_test(a_return_address_of_zero_is_the_outermost_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
