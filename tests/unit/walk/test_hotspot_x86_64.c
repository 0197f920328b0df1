/*
 * test_hotspot_x86_64 - frames of Java's interpreter, and code that is above one.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#define NATIVE_X86_64
#include "frames.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MADE         (CODE + 0x100)
#define CALLER       (CODE + 0x800)
#define SENDER       (FP + 0x30)
#define OUTER_FP     (FP + 0x200)

/* mov -16(%rbp),%rsp: where the interpreter goes on after a call. */
static const uint8_t return_entry[] = { 0x48, 0x8b, 0x65, 0xf0, 0x90, 0x90, 0x90, 0x90 };
/* mov -16(%rbp),%rcx; lea (%rbp,%rcx,8),%rsp */
static const uint8_t newer_entry[] = { 0x48, 0x8b, 0x4d, 0xf0, 0x48, 0x8d, 0x64, 0xcd, 0 };

static struct mem *memory_of_java(const void *code, size_t len)
{
	struct mem *mem = calloc(1, sizeof *mem);

	memset(mem->image, 0x06, IMAGE_LEN); /* no instruction of x86-64 */
	image_put(mem, MADE, code, len);
	image_put(mem, CALLER, return_entry, sizeof return_entry);
	stack_set(mem, FP + 8, CALLER);
	stack_set(mem, FP, OUTER_FP);
	return mem;
}

static void put_interpreted_frame(struct mem *mem)
{
	stack_set(mem, FP - 8, SENDER);
	stack_set(mem, FP - 72, FP - 72);
}

/* call_stub's. */
static void put_entry_frame(struct mem *mem)
{
	stack_set(mem, FP - 8, 0);
	stack_set(mem, FP - 32, 10);
	stack_set(mem, FP - 40, FP + 0x100);
	stack_set(mem, FP - 48, FP + 0x140);
}

static const struct {
	const char *name;
	uint8_t code[24];
	uint8_t len;
	enum walk_status status;
} codes[] = {
	{ "iadd",
	  { 0x5a, 0x01, 0xd0, 0x41, 0x0f, 0xb6, 0x5d, 1, 0x49, 0xff, 0xc5, 0x41, 0xff, 0x24,
	    0xda },
	  15,
	  WALK_COMPLETE },
	{ "a call", { 0x4c, 0x89, 0x6d, 0xf0, 0xff, 0x63, 0x50 }, 7, WALK_COMPLETE },
	{ "a return",
	  { 0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0x5e, 0x48, 0x89, 0xdc, 0xff, 0xe6 },
	  11,
	  WALK_COMPLETE },
	{ "a function's begin, that makes the frame",
	  { 0x50, 0x55, 0x48, 0x89, 0xe5, 0x41, 0xff, 0x24, 0xda },
	  9,
	  WALK_NO_MODULE },
	{ "a stub that calls compiled code", { 0xff, 0x63, 0x40 }, 3, WALK_NO_MODULE },
	{ "compiled code that jumps", { 0x41, 0xff, 0x24, 0xdb }, 4, WALK_NO_MODULE },
	{ "code that is not understood", { 0x06 }, 1, WALK_NO_MODULE },
};

static void bytecodes_are_left_by_the_interpreters_frame(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(codes); i++) {
		struct mem *mem = memory_of_java(codes[i].code, codes[i].len);
		struct native_regs regs = some_regs(MADE);
		enum walk_status status;

		put_interpreted_frame(mem);
		status = native_step_made_code(mem, 1, 1, &regs);
		if (status != codes[i].status ||
		    (status == WALK_COMPLETE &&
		     (regs.ip != CALLER || regs.sp != SENDER || regs.fp != OUTER_FP)))
			fail_msg("%s: status %d, sp %#lx", codes[i].name, status,
				 (unsigned long)regs.sp);
		free(mem);
	}
}

static void what_the_interpreter_goes_on_at_is_returned_to(void **state)
{
	struct mem *mem = memory_of_java(newer_entry, sizeof newer_entry);

	(void)state;
	assert_true(native_follows_call(mem, CALLER));
	assert_true(native_follows_call(mem, MADE));
	assert_false(native_follows_call(mem, CALLER + 4));
	free(mem);
}

static const struct {
	const char *name;
	uint8_t code[12];
	uint8_t len;
	uint64_t words; /* above the return address */
} prologues[] = {
	{ "stack bang, push %rbp",
	  { 0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x89, 0xe5 },
	  11,
	  0 },
	{ "mov %rsp,%rbp", { 0x48, 0x89, 0xe5 }, 3, 1 },
	{ "mov %rsp,%rbp the other way", { 0x48, 0x8b, 0xec }, 3, 1 },
};

/* There rbp is still the caller's: a step by it would leave the caller out. */
static void before_a_frame_is_made_the_return_address_is_on_top(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(prologues); i++) {
		struct mem *mem = memory_of_java(prologues[i].code, prologues[i].len);
		struct native_regs regs = some_regs(MADE);
		const uint64_t slot = SP + 8 * prologues[i].words;

		stack_set(mem, slot, CALLER);
		if (native_step_made_code(mem, 1, 1, &regs) != WALK_COMPLETE ||
		    regs.ip != CALLER || regs.sp != slot + 8 ||
		    regs.fp != (prologues[i].words == 0 ? FP : READ_FROM(SP)))
			fail_msg("%s: sp %#lx", prologues[i].name, (unsigned long)regs.sp);
		free(mem);
	}
}

/* Compiled code that leaves rbp alone has a callee's way out only: by its instructions. */
static void compiled_code_above_a_frame_is_left_by_its_instructions(void **state)
{
	static const uint8_t code[] = { 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3 };
	struct mem *mem = memory_of_java(code, sizeof code);
	struct native_regs regs = some_regs(MADE);

	(void)state;
	put_interpreted_frame(mem);
	stack_set(mem, SP + 0x28, CALLER);
	assert_int_equal(native_step_made_code(mem, 1, 1, &regs), WALK_COMPLETE);
	assert_int_equal(regs.ip, CALLER);
	assert_int_equal(regs.sp, SP + 0x30);
	free(mem);
}

static void the_stub_that_java_is_entered_by_is_left_only_from_itself(void **state)
{
	static const uint8_t other[] = { 0x06 };
	static const uint8_t stub[] = { 0x48, 0x8b, 0x7d, 0xd8, 0x06 }; /* mov -40(%rbp),%rdi */
	struct native_regs regs = some_regs(MADE);
	struct mem *mem = memory_of_java(other, sizeof other);

	(void)state;
	put_entry_frame(mem);
	assert_int_equal(native_step_made_code(mem, 1, 1, &regs), WALK_NO_MODULE);
	image_put(mem, MADE, stub, sizeof stub);
	assert_int_equal(native_step_made_code(mem, 1, 1, &regs), WALK_NO_RULE);
	assert_int_equal(native_step_frame_pointer(mem, &regs), WALK_COMPLETE);
	assert_int_equal(regs.sp, FP + 16);
	free(mem);
}

/* SBCL's frames have stack addresses in the same places, and it keeps frame pointers. */
static void without_java_a_frame_is_no_java_frame(void **state)
{
	static const uint8_t other[] = { 0x06 };
	static const uint8_t call[] = { 0xe8, 1, 2, 3, 4 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct mem *mem = memory_of_java(other, sizeof other);
		struct native_regs regs = some_regs(MADE);

		(i == 0 ? put_entry_frame : put_interpreted_frame)(mem);
		image_put(mem, CALLER - sizeof call, call, sizeof call);
		assert_int_equal(native_step_made_code(mem, 0, 1, &regs), WALK_NO_RULE);
		image_put(mem, MADE - sizeof call, call, sizeof call);
		assert_int_equal(native_step_made_code(mem, 0, 1, &regs), WALK_NO_MODULE);
		assert_int_equal(native_step_made_code(mem, 0, 0, &regs), WALK_NO_RULE);
		assert_int_equal(native_step_frame_pointer(mem, &regs), WALK_COMPLETE);
		assert_int_equal(regs.ip, CALLER);
		free(mem);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytecodes_are_left_by_the_interpreters_frame),
		cmocka_unit_test(what_the_interpreter_goes_on_at_is_returned_to),
		cmocka_unit_test(before_a_frame_is_made_the_return_address_is_on_top),
		cmocka_unit_test(compiled_code_above_a_frame_is_left_by_its_instructions),
		cmocka_unit_test(without_java_a_frame_is_no_java_frame),
		cmocka_unit_test(the_stub_that_java_is_entered_by_is_left_only_from_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
