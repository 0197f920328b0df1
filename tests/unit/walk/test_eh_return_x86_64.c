/*
 * test_eh_return_x86_64 - the frame of a function that is about to go to a landing pad.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#define NATIVE_X86_64
#include "frames.h"

#define FUNCTION  (CODE + 0x100)
#define CALLER    (CODE + 0x300)
#define STUB      (CODE + 0x340)
#define WITH_PAD  (CODE + 0x400)
#define OUTER     (FP + 16) /* the stack pointer of what called FUNCTION */
#define CALLER_FP (OUTER + 0x40)
#define PAD_SLOT  (OUTER + 0x800)

static const uint8_t code[] = {
	0xe8, 0,    0,    0,    0,    /* 0 call: what replaces the registers */
	0xe8, 0,    0,    0,    0,    /* 5 call: a debugger's hook */
	0x48, 0x89, 0x74, 0x15, 0x08, /* 10 mov %rsi,8(%rbp,%rdx): the pad's address */
	0x48, 0x8b, 0x5d, 0xd8,       /* 15 mov -40(%rbp),%rbx */
	0x48, 0x8b, 0x6d, 0,          /* 19 mov (%rbp),%rbp */
	0x48, 0x89, 0xcc,             /* 23 mov %rcx,%rsp */
	0x59,                         /* 26 pop %rcx */
	0xff, 0xe1,                   /* 27 jmp *%rcx */
};

static const uint8_t program[] = {
	0x0c, 6,    16,                /* CFA = rbp + 16 */
	0x86, 2,    0x83, 7,           /* rbp and rbx are saved */
	0x81, 8,    0x80, 9,           /* and rdx and rax: a landing pad's arguments */
	0x57, 0xc6, 0x0c, 2,    8,     /* 23: rbp is restored; CFA = rcx + 8 */
	0x43, 0x0c, 7,    8,           /* 26: CFA = rsp + 8 */
	0x41, 0x0e, 0,    0x09, 16, 2, /* 27: CFA = rsp, the return address in rcx */
};

static void put_call(struct mem *mem, uint64_t at, uint8_t opcode, uint64_t target)
{
	image_put(mem, at, &opcode, 1);
	image_put_u32(mem, at + 1, target - (at + 5));
}

/* CALLER calls FUNCTION, directly or through a stub; WITH_PAD calls something else. */
static struct mem *image_of_unwinder(int has_stub)
{
	struct mem *mem = calloc(1, sizeof *mem);
	uint64_t cie = frame_put_usual_cie(mem);

	frame_put_fde(mem, cie, FUNCTION, sizeof code, program, sizeof program);
	frame_put_fde(mem, cie, CALLER, 16, "\x0c\x06\x10\x86\x02", 5);
	frame_put_end(mem);
	image_put(mem, FUNCTION, code, sizeof code);
	put_call(mem, CALLER, 0xe8, has_stub ? STUB : FUNCTION);
	image_put(mem, STUB, "\xf3\x0f\x1e\xfa", 4);
	put_call(mem, STUB + 4, 0xe9, FUNCTION);
	put_call(mem, WITH_PAD, 0xe8, CALLER);
	return mem;
}

static enum walk_status step_from(struct mem *mem, uint64_t ip, int is_return,
				  struct native_regs *regs, struct native_step *step)
{
	struct native_image image = image_without_table(mem);
	struct eh_lookup scratch;
	uint64_t rule = 0;
	enum walk_status status =
		native_rule_find(mem, &image, ip - (is_return ? 1 : 0), &rule);

	assert_int_equal(status, WALK_COMPLETE);
	if (regs->sp == 0)
		*regs = some_regs(ip);
	if (!native_rule_is_eh_return(rule))
		return native_step(mem, rule, regs, step);
	return native_step_eh_return(mem, &scratch, &image, rule, regs, step);
}

static void before_the_registers_are_replaced_the_rule_holds(void **state)
{
	struct mem *mem = image_of_unwinder(0);
	struct native_regs regs = { 0 };
	struct native_step step;

	(void)state;
	assert_int_equal(step_from(mem, FUNCTION, 0, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.sp, OUTER);
	assert_int_equal(regs.ip, READ_FROM(FP + 8));
	assert_int_equal(regs.fp, READ_FROM(FP));
	free(mem);
}

static void the_true_caller_is_known_by_its_call(void **state)
{
	(void)state;
	for (int has_stub = 0; has_stub < 2; has_stub++) {
		struct mem *mem = image_of_unwinder(has_stub);
		struct native_regs regs = { 0 };
		struct native_step step;

		stack_set(mem, FP + 8, CALLER + 5);
		stack_set(mem, FP, CALLER_FP);
		/* Stale, and not to be taken. */
		stack_set(mem, PAD_SLOT, CALLER + 5);
		assert_int_equal(step_from(mem, FUNCTION + 5, 1, &regs, &step), WALK_COMPLETE);
		assert_int_equal(regs.ip, CALLER + 5);
		assert_int_equal(regs.sp, OUTER);
		assert_int_equal(regs.fp, CALLER_FP);
		free(mem);
	}
}

/* rbp may be that of the frame with the landing pad already. */
static void a_frame_pointer_beyond_another_frame_is_not_followed(void **state)
{
	struct mem *mem = image_of_unwinder(0);
	struct native_regs regs = { 0 };
	struct native_step step;

	(void)state;
	stack_set(mem, FP + 8, CALLER + 5);
	stack_set(mem, FP, CALLER_FP);
	stack_set(mem, OUTER + 0x10, WITH_PAD + 5);
	assert_int_equal(step_from(mem, FUNCTION + 5, 1, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.ip, CALLER + 5);
	assert_int_equal(step_from(mem, CALLER + 5, 1, &regs, &step), WALK_UNWINDING);
	free(mem);
}

static void discarded_frames_are_left_out(void **state)
{
	struct mem *mem = image_of_unwinder(0);

	(void)state;
	stack_set(mem, FP + 8, WITH_PAD + 5);
	stack_set(mem, FP, CALLER_FP);
	stack_set(mem, PAD_SLOT, WITH_PAD + 5);
	for (uint64_t at = 5; at <= 10; at += 5) {
		struct native_regs regs = { 0 };
		struct native_step step;

		assert_int_equal(step_from(mem, FUNCTION + at, 1, &regs, &step), WALK_COMPLETE);
		assert_int_equal(regs.ip, WITH_PAD + 5);
		assert_int_equal(regs.sp, PAD_SLOT + 8);
		assert_int_equal(regs.fp, CALLER_FP);
		assert_false(step.is_exact);
	}
	free(mem);
}

static void where_the_pads_frame_cannot_be_found_the_walk_says_so(void **state)
{
	struct mem *mem = image_of_unwinder(0);
	struct native_regs regs = { 0 };
	struct native_step step;

	(void)state;
	stack_set(mem, FP + 8, WITH_PAD + 5);
	assert_int_equal(step_from(mem, FUNCTION + 5, 1, &regs, &step), WALK_UNWINDING);
	/* The pad's address has overwritten it, and the next is a frame further out. */
	stack_set(mem, PAD_SLOT, WITH_PAD + 5);
	regs.sp = 0;
	assert_int_equal(step_from(mem, FUNCTION + 15, 0, &regs, &step), WALK_UNWINDING);
	free(mem);
}

/* A landing pad may begin a range of rules: one byte before it others hold. */
static void a_landing_pad_is_no_return_address(void **state)
{
	struct mem *mem = image_of_unwinder(0);

	(void)state;
	for (uint64_t at = 23; at <= 27; at += at == 23 ? 3 : 1) {
		struct native_regs regs = some_regs(FUNCTION + at);
		struct native_step step;

		assert_int_equal(step_from(mem, FUNCTION + at, 0, &regs, &step), WALK_COMPLETE);
		assert_true(step.is_exact);
		assert_int_equal(regs.sp, at == 23 ? LR + 8 : at == 26 ? SP + 8 : SP);
		assert_int_equal(regs.fp, FP);
		assert_int_equal(regs.bx, BX);
	}
	free(mem);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_the_registers_are_replaced_the_rule_holds),
		cmocka_unit_test(the_true_caller_is_known_by_its_call),
		cmocka_unit_test(a_frame_pointer_beyond_another_frame_is_not_followed),
		cmocka_unit_test(discarded_frames_are_left_out),
		cmocka_unit_test(where_the_pads_frame_cannot_be_found_the_walk_says_so),
		cmocka_unit_test(a_landing_pad_is_no_return_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
