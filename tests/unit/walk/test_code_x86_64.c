/*
 * test_code_x86_64 - code without rules: what its instructions say, and frame pointers.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#define NATIVE_X86_64
#include "frames.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define FUNCTION     (CODE + 0x100)

/* An image with one function far away, so that there is a section but no rule for FUNCTION. */
static struct mem *image_of_code(const void *code, size_t len)
{
	struct mem *mem = calloc(1, sizeof *mem);
	uint64_t cie = frame_put_usual_cie(mem);

	memset(mem->image, 0x06, EH_HDR - IMAGE); /* no instruction of x86-64 */
	frame_put_fde(mem, cie, CODE + 0x2000, 16, "\x0e\x40", 2);
	frame_put_end(mem);
	image_put(mem, FUNCTION, code, len);
	return mem;
}

static enum walk_status step_at(struct mem *mem, uint64_t ip, uint64_t lookup,
				struct native_regs *regs, struct native_step *step)
{
	struct native_image image = image_without_table(mem);
	uint64_t rule = 0;
	enum walk_status status = native_rule_find(mem, &image, lookup, &rule);

	*regs = some_regs(ip);
	return status == WALK_COMPLETE ? native_step(mem, rule, regs, step) : status;
}

static const uint8_t init[] = {
	0x48, 0x83, 0xec, 0x08,             /* 0 sub $8,%rsp */
	0x48, 0x8b, 0x05, 0xc5, 0x4f, 1, 0, /* 4 mov …(%rip),%rax */
	0x48, 0x85, 0xc0,                   /* 11 test %rax,%rax */
	0x74, 0x02,                         /* 14 je */
	0xff, 0xd0,                         /* 16 call *%rax */
	0x48, 0x83, 0xc4, 0x08,             /* 18 add $8,%rsp */
	0xc3,                               /* 22 ret */
};

static const uint8_t destructors[] = {
	0xf3, 0x0f, 0x1e, 0xfa,                /* 0 endbr64 */
	0x80, 0x3d, 0x1d, 0x55, 1,    0, 0,    /* 4 cmpb $0,…(%rip) */
	0x75, 0x2b,                            /* 11 jne */
	0x55,                                  /* 13 push %rbp */
	0x48, 0x83, 0x3d, 0x3a, 0x50, 1, 0, 0, /* 14 cmpq $0,…(%rip) */
	0x48, 0x89, 0xe5,                      /* 22 mov %rsp,%rbp */
	0x74, 0x0c,                            /* 25 je */
	0x48, 0x8b, 0x3d, 0x86, 0x53, 1, 0,    /* 27 mov …(%rip),%rdi */
	0xe8, 0x89, 0xe6, 0xff, 0xff,          /* 34 call */
	0xe8, 0x64, 0xff, 0xff, 0xff,          /* 39 call */
	0xc6, 0x05, 0xf5, 0x54, 1,    0, 1,    /* 44 movb $1,…(%rip) */
	0x5d,                                  /* 51 pop %rbp */
	0xc3,                                  /* 52 ret */
};

static const uint8_t frame_dummy[] = {
	0xf3, 0x0f, 0x1e, 0xfa, /* 0 endbr64 */
	0xeb, 0x02,             /* 4 jmp */
	0x06, 0x06,             /* 6 never */
	0x48, 0xd1, 0xfe,       /* 8 sar %rsi */
	0xc3,                   /* 11 ret */
};

static const struct {
	const char *name;
	const uint8_t *code;
	size_t len;
	unsigned at;
	int is_return; /* at follows a call, and is looked up one byte before */
	uint64_t size; /* of the frame, the return address included */
	uint64_t fp;   /* 0: as it was */
} scans[] = {
	{ "_init, first", init, sizeof init, 0, 0, 8, 0 },
	{ "_init, in it", init, sizeof init, 4, 0, 16, 0 },
	{ "_init, before the call", init, sizeof init, 16, 0, 16, 0 },
	{ "_init, calling", init, sizeof init, 18, 1, 16, 0 },
	{ "_init, last", init, sizeof init, 22, 0, 8, 0 },
	{ "destructors, first", destructors, sizeof destructors, 0, 0, 8, 0 },
	{ "destructors, before the push", destructors, sizeof destructors, 13, 0, 8, 0 },
	{ "destructors, after the push", destructors, sizeof destructors, 14, 0, 16,
	  READ_FROM(SP) },
	{ "destructors, calling", destructors, sizeof destructors, 39, 1, 16, READ_FROM(SP) },
	{ "destructors, calling again", destructors, sizeof destructors, 44, 1, 16,
	  READ_FROM(SP) },
	{ "destructors, last", destructors, sizeof destructors, 52, 0, 8, 0 },
	{ "frame_dummy jumps on", frame_dummy, sizeof frame_dummy, 0, 0, 8, 0 },
};

static void start_up_code_is_understood_at_every_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(scans); i++) {
		struct mem *mem = image_of_code(scans[i].code, scans[i].len);
		uint64_t ip = FUNCTION + scans[i].at;
		struct native_regs regs;
		struct native_step step;
		enum walk_status status =
			step_at(mem, ip, ip - (scans[i].is_return ? 1 : 0), &regs, &step);

		if (status != WALK_COMPLETE || regs.sp != SP + scans[i].size ||
		    regs.ip != READ_FROM(SP + scans[i].size - 8) || regs.bx != BX ||
		    regs.fp != (scans[i].fp ? scans[i].fp : FP))
			fail_msg("%s: status %d sp %#lx fp %#lx", scans[i].name, status,
				 regs.sp, regs.fp);
		free(mem);
	}
}

/* Tables stand in libcrypto's text; one may look like instructions. */
static void data_in_the_text_is_not_followed(void **state)
{
	static const uint8_t skipped[] = { 0xeb, 4,    0x48, 0x83, 0xc4,
					   0x40, /* a jump over it */
					   0x48, 0x83, 0xc4, 0x10, 0xc3 };
	static const uint8_t behind[] = {
		0x48, 0x83, 0xc4, 0x10, 0xc3, 0x48, 0x83, 0xc4, 0x40
	};
	static const uint8_t unseen[] = { 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 0x40, 0xc3 };
	struct native_regs regs;
	struct native_step step;
	struct mem *mem = image_of_code(skipped, sizeof skipped);

	(void)state;
	assert_int_equal(step_at(mem, FUNCTION, FUNCTION, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.sp, SP + 0x18);
	free(mem);
	mem = image_of_code(behind, sizeof behind);
	assert_int_equal(step_at(mem, FUNCTION, FUNCTION, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.sp, SP + 0x18);
	free(mem);
	/* Behind a call that does not return it is: but what it leads to is behind no call. */
	mem = image_of_code(unseen, sizeof unseen);
	assert_int_equal(step_at(mem, FUNCTION + 5, FUNCTION + 4, &regs, &step), WALK_COMPLETE);
	assert_false(native_follows_call(mem, regs.ip));
	free(mem);
}

/* .fini is the last section of its segment. */
/* Behind __stack_chk_fail() another function may stand at once, which looks like the rest. */
static void a_stack_protectors_jump_is_no_way_to_the_end(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x85, 0xc0,                         /* 0 test %rax,%rax */
		0x74, 0x02,                               /* 3 je 7 */
		0xeb, 0xf9,                               /* 5 jmp 0 */
		0x64, 0x48, 0x2b, 0x04, 0x25, 0x28, 0, 0, /* 7 sub %fs:0x28,%rax */
		0,    0x75, 0x05,                         /* 16 jne 23 */
		0x48, 0x83, 0xc4, 0x08, 0xc3,             /* 18 add $8,%rsp; ret */
		0xe8, 0,    0,    0,    0,                /* 23 call */
		0x48, 0x83, 0xc4, 0x40, 0xc3,             /* 28 add $64,%rsp; ret */
	};
	struct mem *mem = image_of_code(code, sizeof code);
	struct native_regs regs;
	struct native_step step;

	(void)state;
	assert_int_equal(step_at(mem, FUNCTION, FUNCTION, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.sp, SP + 16);
	free(mem);
}

static void code_may_end_right_before_a_gap(void **state)
{
	struct mem *mem = image_of_code(init, sizeof init);
	struct native_image image = image_without_table(mem);
	struct native_regs regs = some_regs(FUNCTION + sizeof init - 5);
	struct native_step step;
	uint64_t rule = 0;

	(void)state;
	/* The section lies behind the code here, so the image ends with the code. */
	mem->image_gap = FUNCTION + sizeof init;
	image.eh_frame = 0;
	image.eh_frame_len = 0;
	assert_int_equal(native_rule_find(mem, &image, regs.ip, &rule), WALK_COMPLETE);
	assert_int_equal(native_step(mem, rule, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.sp, SP + 16);
	free(mem);
}

static const struct {
	const char *name;
	uint8_t code[12];
	uint8_t len;
} not_understood[] = {
	{ "sub %rax,%rsp", { 0x48, 0x29, 0xc4, 0xc3 }, 4 },
	{ "and $-64,%rsp", { 0x48, 0x83, 0xe4, 0xc0, 0xc3 }, 5 },
	{ "xchg %rsp,%rax", { 0x48, 0x94, 0xc3 }, 3 },
	{ "xchg %rsp,%rdx", { 0x48, 0x87, 0xe2, 0xc3 }, 4 },
	{ "mov %esp,%esp", { 0x89, 0xe4, 0xc3 }, 3 },
	{ "movq %xmm7,%rsp", { 0x66, 0x48, 0x0f, 0x7e, 0xfc, 0xc3 }, 6 },
	{ "vmovq %xmm7,%rsp", { 0xc4, 0xe1, 0xf9, 0x7e, 0xfc, 0xc3 }, 6 },
	{ "andn %rax,%rbx,%rsp", { 0xc4, 0xe2, 0xe0, 0xf2, 0xe0, 0xc3 }, 6 },
	{ "cmove %rax,%rsp", { 0x48, 0x0f, 0x44, 0xe0, 0xc3 }, 5 },
	{ "mov 8(%rax,%rcx),%rsp", { 0x48, 0x8b, 0x64, 0x08, 0x08, 0xc3 }, 6 },
	{ "lea (%rsp,%rax),%rsp", { 0x48, 0x8d, 0x24, 0x04, 0xc3 }, 5 },
	{ "inc %rsp", { 0x48, 0xff, 0xc4, 0xc3 }, 4 },
	{ "not %rbx; mov %rbx,%rsp", { 0x48, 0xf7, 0xd3, 0x48, 0x89, 0xdc, 0xc3 }, 7 },
	{ "int3", { 0xcc, 0xc3 }, 2 },
	{ "ud2", { 0x0f, 0x0b, 0xc3 }, 3 },
	{ "hlt", { 0xf4, 0xc3 }, 2 },
	{ "jmp *%rax", { 0xff, 0xe0, 0xc3 }, 3 },
	{ "ljmp *(%rax)", { 0xff, 0x28, 0xc3 }, 3 },
	{ "mov with an address of 32 bits", { 0x67, 0x8b, 0x00, 0xc3 }, 4 },
	{ "a system call", { 0x0f, 0x05, 0xc3 }, 3 },
	{ "more pushed than popped", { 0x50, 0xc3 }, 2 },
	{ "a loop", { 0xeb, 0xfe }, 2 },
	{ "no end", { 0x90, 0x90, 0x90 }, 3 },
	/* What is called does not return: what follows is another function, or data. */
	{ "a call, padding of two bytes", { 0xe8, 0, 0, 0, 0, 0x66, 0x90, 0xc3 }, 8 },
	{ "a call, padding of five", { 0xe8, 0, 0, 0, 0, 0x0f, 0x1f, 0x44, 0, 0, 0xc3 }, 11 },
	{ "a call, a function's begin", { 0xff, 0xd0, 0xf3, 0x0f, 0x1e, 0xfa, 0xc3 }, 7 },
	{ "a call, a table of no instructions", { 0xe8, 0, 0, 0, 0, 0x60, 0x07, 0xc3 }, 8 },
};

/* As assemblers have them: libjpeg's, GMP's, OpenBLAS's, x264's, OpenSSL's. */
static const struct {
	const char *name;
	uint8_t code[40];
	uint8_t len;
	uint64_t sp;     /* of the caller */
	uint64_t fp, bx; /* of the caller; 0: lost */
} understood[] = {
	{ "add $1024,%rsp", { 0x48, 0x81, 0xc4, 0, 4, 0, 0, 0xc3 }, 8, SP + 0x408, FP, BX },
	{ "ret $16", { 0xc2, 16, 0 }, 3, SP + 8, FP, BX },
	{ "lea 24(%rsp),%rsp", { 0x48, 0x8d, 0x64, 0x24, 24, 0xc3 }, 6, SP + 32, FP, BX },
	{ "mov %rbx,%rsp; mov (%rsp),%rbx; mov 8(%rsp),%rbp; add $96,%rsp",
	  { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x1c, 0x24, 0x48, 0x8b, 0x6c, 0x24, 8, 0x48, 0x83,
	    0xc4, 96, 0xc3 },
	  17,
	  BX + 104,
	  READ_FROM(BX + 8),
	  READ_FROM(BX) },
	{ "mov %rbp,%rsp; pop %rsp; pop %rbp",
	  { 0x48, 0x89, 0xec, 0x5c, 0x5d, 0xc3 },
	  6,
	  READ_FROM(FP) + 16,
	  READ_FROM(READ_FROM(FP)),
	  BX },
	{ "mov 40(%rsp),%rsp",
	  { 0x48, 0x8b, 0x64, 0x24, 40, 0xc3 },
	  6,
	  READ_FROM(SP + 40) + 8,
	  FP,
	  BX },
	{ "pop %rbp; pop %rbx behind vector instructions",
	  { 0xc5, 0xfd, 0x6f, 0x04, 0x07,          /* vmovdqa (%rdi,%rax),%ymm0 */
	    0x62, 0xf1, 0x7c, 0x48, 0x10, 0x6e, 1, /* vmovups 64(%rsi),%zmm5 */
	    0xc4, 0xe3, 0x7d, 0x39, 0xc5, 1,       /* vextracti128 $1,%ymm0,%xmm5 */
	    0x66, 0x0f, 0x3a, 0x0f, 0xdc, 8,       /* palignr $8,%xmm4,%xmm3 */
	    0xc5, 0xf8, 0x77, 0x5d, 0x5b, 0xc3 },  /* vzeroupper */
	  30,
	  SP + 24,
	  READ_FROM(SP),
	  READ_FROM(SP + 8) },
	{ "mul, adc, movabs, imul, jumps passed",
	  { 0x48, 0xf7, 0xe1,                               /* mul %rcx */
	    0x4c, 0x13, 0x04, 0xd6,                         /* adc (%rsi,%rdx,8),%r8 */
	    0x48, 0xb8, 1,    2,    3,    4,    5, 6, 7, 8, /* movabs */
	    0x4d, 0x69, 0xc0, 1,    2,    3,    4,          /* imul */
	    0x0f, 0x85, 0,    0xff, 0xff, 0xff,             /* jne */
	    0x72, 0x80,                                     /* jc */
	    0x58, 0xc3 },
	  34,
	  SP + 16,
	  FP,
	  BX },
	{ "a loop that a jump leads out of",
	  { 0x74, 4, 0xff, 0xca, 0xeb, 0xfa, 0x59, 0xc3 },
	  8,
	  SP + 16,
	  FP,
	  BX },
	{ "a switch that a jump leads past",
	  { 0x74, 2, 0xff, 0xe0, 0x59, 0xc3 },
	  6,
	  SP + 16,
	  FP,
	  BX },
	{ "mov $0,%ebp", { 0xbd, 0, 0, 0, 0, 0xc3 }, 6, SP + 8, 0, BX },
	{ "xor %ebx,%ebx", { 0x31, 0xdb, 0xc3 }, 3, SP + 8, FP, 0 },
	{ "push %rbx; xor %ebx,%ebx; pop %rbx",
	  { 0x53, 0x31, 0xdb, 0x5b, 0xc3 },
	  5,
	  SP + 8,
	  FP,
	  BX },
	{ "cmp and test of rbp and rbx",
	  { 0x48, 0x39, 0xeb, 0x48, 0x85, 0xed, 0x48, 0x83, 0xfd, 1, 0xf6, 0xc3, 1, 0xc3 },
	  14,
	  SP + 8,
	  FP,
	  BX },
};

static void assembler_is_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(understood); i++) {
		struct mem *mem = image_of_code(understood[i].code, understood[i].len);
		struct native_regs regs;
		struct native_step step;
		enum walk_status status = step_at(mem, FUNCTION, FUNCTION, &regs, &step);

		if (status != WALK_COMPLETE || regs.sp != understood[i].sp ||
		    regs.fp != understood[i].fp || regs.bx != understood[i].bx ||
		    regs.ip != READ_FROM(regs.sp - 8))
			fail_msg("%s: status %d sp %#lx fp %#lx bx %#lx", understood[i].name,
				 status, regs.sp, regs.fp, regs.bx);
		free(mem);
	}
}

static void what_instructions_say_is_a_guess(void **state)
{
	static const uint8_t code[] = { 0x49, 0x89, 0xd3, 0x48, 0x89, 0xc4, 0xc3 };
	struct mem *mem = image_of_code(code, sizeof code);
	struct native_image image = image_without_table(mem);
	uint64_t rule = 0;

	(void)state;
	/* mov %rax,%rsp; ret: only in the innermost frame is rax known. */
	assert_int_equal(native_rule_find(mem, &image, FUNCTION, &rule), WALK_COMPLETE);
	assert_true(native_rule_is_guess(rule));
	assert_int_equal(native_rule_leaf_register(rule), 0);
	assert_int_equal(native_rule_find(mem, &image, FUNCTION + 6, &rule), WALK_COMPLETE);
	assert_true(native_rule_is_guess(rule));
	assert_int_equal(native_rule_leaf_register(rule), NATIVE_NO_REGISTER);
	assert_int_equal(native_rule_find(mem, &image, CODE + 0x2000, &rule), WALK_COMPLETE);
	assert_false(native_rule_is_guess(rule));
	free(mem);
}

static void other_code_has_no_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(not_understood); i++) {
		struct mem *mem = image_of_code(not_understood[i].code, not_understood[i].len);
		struct native_regs regs;
		struct native_step step;

		if (step_at(mem, FUNCTION, FUNCTION, &regs, &step) != WALK_NO_RULE)
			fail_msg("%s", not_understood[i].name);
		free(mem);
	}
}

static void leave_and_ret_are_understood(void **state)
{
	struct mem *mem = image_of_code("\x48\x89\xc7\xc9\xc3", 5);
	struct native_regs regs;
	struct native_step step;

	(void)state;
	assert_int_equal(step_at(mem, FUNCTION, FUNCTION, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.sp, FP + 16);
	assert_int_equal(regs.fp, READ_FROM(FP));
	assert_int_equal(regs.ip, READ_FROM(FP + 8));
	free(mem);
}

/* mov $15,%rax; syscall, as in libcs that have no rules for it. */
static void a_trampoline_is_known_by_its_code(void **state)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	struct mem *mem = image_of_code(code, sizeof code);

	(void)state;
	for (unsigned is_return = 0; is_return < 2; is_return++) {
		struct native_regs regs;
		struct native_step step;

		assert_int_equal(step_at(mem, FUNCTION, FUNCTION - is_return, &regs, &step),
				 WALK_COMPLETE);
		assert_true(step.is_exact);
		assert_int_equal(regs.sp, READ_FROM(SP + 160));
		assert_int_equal(regs.ip, READ_FROM(SP + 168));
		assert_int_equal(regs.fp, READ_FROM(SP + 120));
		assert_int_equal(regs.bx, READ_FROM(SP + 128));
	}
	free(mem);
}

/* With rbp cleared; before a hlt (tcc's _start); in _start of glibc's ld.so. */
static void calls_of_a_programs_beginning_are_the_outermost(void **state)
{
	static const uint8_t cleared[] = { 0x31, 0xed, 0xe8, 1, 2, 3, 4 };
	static const uint8_t halt[] = { 0x90, 0x90, 0xe8, 1, 2, 3, 4, 0xf4 };
	static const uint8_t loader[] = {
		0x48, 0x89, 0xe7, 0xe8, 1, 2, 3, 4, 0x49, 0x89, 0xc4
	};
	static const uint8_t other[] = { 0x48, 0x89, 0xe7, 0xe8, 1, 2, 3, 4, 0x49, 0x89, 0xc5 };
	const struct {
		const uint8_t *code;
		size_t len, behind;
		bool is_last;
	} calls[] = { { cleared, sizeof cleared, 7, true },
		      { halt, sizeof halt, 7, true },
		      { loader, sizeof loader, 8, true },
		      { other, sizeof other, 8, false } };

	(void)state;
	for (size_t i = 0; i < COUNT(calls); i++) {
		struct mem *mem = image_of_code(calls[i].code, calls[i].len);
		const uint64_t behind = FUNCTION + calls[i].behind;
		struct native_regs regs;
		struct native_step step = { 0 };
		const enum walk_status status = step_at(mem, behind, behind - 1, &regs, &step);

		assert_true((status == WALK_COMPLETE && step.is_last) == calls[i].is_last);
		free(mem);
	}
}

/* __memcpy_chk ends in padding before memcpy. */
static void a_made_stack_ends_at_what_its_first_function_returns_to(void **state)
{
	static const uint8_t context[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b,
					   0x3c, 0x24, 0x48, 0x85, 0xff };
	static const uint8_t fiber[] = { 0x55, 0xff, 0xe3, 0x48, 0x31, 0xff, 0xe8 };
	static const uint8_t go[] = { 0xcc, 0x90, 0xe8, 1, 2, 3, 4, 0x90 };
	const struct {
		const uint8_t *code;
		size_t len, bottom;
	} made[] = { { context, sizeof context, 0 },
		     { fiber, sizeof fiber, 3 },
		     { go, sizeof go, 2 } };

	(void)state;
	for (size_t i = 0; i < COUNT(made); i++) {
		struct mem *mem = image_of_code(made[i].code, made[i].len);
		const uint64_t bottom = FUNCTION + made[i].bottom;
		struct native_regs regs;
		struct native_step step = { 0 };

		assert_int_equal(step_at(mem, bottom, bottom - 1, &regs, &step), WALK_COMPLETE);
		assert_true(step.is_last);
		assert_true(step.is_signal);
		assert_true(native_follows_call(mem, bottom));
		step = (struct native_step){ 0 };
		step_at(mem, bottom + 1, bottom, &regs, &step);
		assert_false(step.is_last);
		free(mem);
	}
}

static void a_made_stack_ends_right_behind_another_function(void **state)
{
	struct mem *mem = image_of_code("", 0);
	struct native_regs regs;
	struct native_step step = { 0 };

	(void)state;
	assert_int_equal(step_at(mem, CODE + 0x2010, CODE + 0x200f, &regs, &step),
			 WALK_COMPLETE);
	assert_false(step.is_last);
	image_put(mem, CODE + 0x2010, "\x48\x89\xdc\x48\x8b\x3c\x24\x48\x85\xff", 10);
	assert_int_equal(step_at(mem, CODE + 0x2010, CODE + 0x200f, &regs, &step),
			 WALK_COMPLETE);
	assert_true(step.is_last);
	free(mem);
}

static void padding_has_the_rule_of_what_follows(void **state)
{
	static const uint8_t padding[] = { 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0,    0,    0,
					   0,    0,    0x66, 0x0f, 0x1f, 0x44, 0,    0,    0x90,
					   0x66, 0x90, 0x0f, 0x1f, 0x00, 0x0f, 0x1f, 0x40, 0,
					   0x0f, 0x1f, 0x80, 0,    0,    0,    0 };
	struct mem *mem = image_of_code("", 0);
	struct native_regs regs;
	struct native_step step;
	uint64_t begin = CODE + 0x2000 - sizeof padding;

	(void)state;
	image_put(mem, begin, padding, sizeof padding);
	assert_int_equal(step_at(mem, begin, begin, &regs, &step), WALK_COMPLETE);
	assert_int_equal(regs.sp, SP + 64);
	/* Not if it leads into the middle of a function. */
	image_put(mem, CODE + 0x1ffe, "\x0f\x1f\x40\x00", 4);
	assert_int_equal(step_at(mem, CODE + 0x1ffe, CODE + 0x1ffe, &regs, &step),
			 WALK_NO_RULE);
	/* Nor if something else comes first. */
	image_put(mem, CODE + 0x1ffe, "\x90\x06", 2);
	assert_int_equal(step_at(mem, CODE + 0x1ffe, CODE + 0x1ffe, &regs, &step),
			 WALK_NO_RULE);
	free(mem);
}

static const struct {
	const char *name;
	uint8_t call[7]; /* what comes before the return address */
	uint64_t fp, saved_fp, return_address;
	enum walk_status status;
} frame_pointers[] = {
	{ "call rel32", { 0, 0, 0xe8, 1, 2, 3, 4 }, FP, FP + 64, FUNCTION, WALK_COMPLETE },
	{ "call *%rax", { 0, 0, 0, 0, 0, 0xff, 0xd0 }, FP, FP + 64, FUNCTION, WALK_COMPLETE },
	{ "call *(%rax)", { 0, 0, 0, 0, 0, 0xff, 0x10 }, FP, FP + 64, FUNCTION, WALK_COMPLETE },
	{ "call *8(%rax)",
	  { 0, 0, 0, 0, 0xff, 0x50, 8 },
	  FP,
	  FP + 64,
	  FUNCTION,
	  WALK_COMPLETE },
	{ "call *8(%rsp)",
	  { 0, 0, 0, 0xff, 0x54, 0x24, 8 },
	  FP,
	  FP + 64,
	  FUNCTION,
	  WALK_COMPLETE },
	{ "call *x(%rip)",
	  { 0, 0xff, 0x15, 1, 2, 3, 4 },
	  FP,
	  FP + 64,
	  FUNCTION,
	  WALK_COMPLETE },
	{ "call *x(,%rax,8)",
	  { 0xff, 0x14, 0xc5, 1, 2, 3, 4 },
	  FP,
	  FP + 64,
	  FUNCTION,
	  WALK_COMPLETE },
	{ "the outermost frame", { 0, 0, 0xe8, 1, 2, 3, 4 }, FP, 0, FUNCTION, WALK_COMPLETE },
	{ "no call", { 0 }, FP, FP + 64, FUNCTION, WALK_NO_RULE },
	{ "a jump", { 0, 0, 0, 0, 0, 0xff, 0xe0 }, FP, FP + 64, FUNCTION, WALK_NO_RULE },
	{ "rbp below rsp",
	  { 0, 0, 0xe8, 1, 2, 3, 4 },
	  SP - 8,
	  FP + 64,
	  FUNCTION,
	  WALK_NO_RULE },
	{ "rbp not aligned",
	  { 0, 0, 0xe8, 1, 2, 3, 4 },
	  FP + 4,
	  FP + 64,
	  FUNCTION,
	  WALK_NO_RULE },
	{ "rbp far away",
	  { 0, 0, 0xe8, 1, 2, 3, 4 },
	  SP + (2 << 20),
	  FP + 64,
	  FUNCTION,
	  WALK_NO_RULE },
	{ "rbp off the stack",
	  { 0, 0, 0xe8, 1, 2, 3, 4 },
	  STACK + STACK_LEN - 8,
	  FP,
	  FUNCTION,
	  WALK_NO_RULE },
	{ "the saved rbp further in",
	  { 0, 0, 0xe8, 1, 2, 3, 4 },
	  FP,
	  FP,
	  FUNCTION,
	  WALK_NO_RULE },
	{ "the saved rbp not aligned",
	  { 0, 0, 0xe8, 1, 2, 3, 4 },
	  FP,
	  FP + 63,
	  FUNCTION,
	  WALK_NO_RULE },
	{ "a return to the first page",
	  { 0, 0, 0xe8, 1, 2, 3, 4 },
	  FP,
	  FP + 64,
	  100,
	  WALK_NO_RULE },
	{ "a return to the kernel",
	  { 0, 0, 0xe8, 1, 2, 3, 4 },
	  FP,
	  FP + 64,
	  ~0xffULL,
	  WALK_NO_RULE },
};

static void a_frame_pointer_is_followed_only_if_all_is_plausible(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(frame_pointers); i++) {
		struct mem *mem = image_of_code("", 0);
		struct native_regs regs = some_regs(CODE);

		image_put(mem, FUNCTION - 7, frame_pointers[i].call, 7);
		regs.fp = frame_pointers[i].fp;
		struct native_regs before = regs;
		stack_set(mem, regs.fp, frame_pointers[i].saved_fp);
		stack_set(mem, regs.fp + 8, frame_pointers[i].return_address);
		enum walk_status status = native_step_frame_pointer(mem, &regs);
		if (status != frame_pointers[i].status)
			fail_msg("%s: %d", frame_pointers[i].name, status);
		if (status == WALK_COMPLETE) {
			assert_int_equal(regs.ip, FUNCTION);
			assert_int_equal(regs.sp, before.fp + 16);
			assert_int_equal(regs.fp, frame_pointers[i].saved_fp);
		} else {
			assert_memory_equal(&regs, &before, sizeof regs);
		}
		free(mem);
	}
}

/* As CPython 3.12 and 3.13 have them: call *%rcx is followed by the end. */
static const struct {
	const char *name;
	uint8_t before[2];
	uint8_t code[8];
	uint64_t return_address;
	uint64_t size, fp; /* of the frame; fp: that is restored, 0: as it was */
	int is_exact;
} trampolines[] = {
	{ "add $8,%rsp; ret",
	  { 0xff, 0xd1 },
	  { 0x48, 0x83, 0xc4, 8, 0xc3 },
	  CODE + 7,
	  16,
	  0,
	  0 },
	{ "pop %rbp; ret", { 0xff, 0xd1 }, { 0x5d, 0xc3 }, CODE + 7, 16, 0x1234, 0 },
	{ "ret", { 0xff, 0xd1 }, { 0xc3 }, CODE + 7, 8, 0, 0 },
	{ "at its beginning",
	  { 0x90, 0x90 },
	  { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3 },
	  CODE + 7,
	  8,
	  0,
	  1 },
	{ "before its call",
	  { 0x90, 0x90 },
	  { 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3 },
	  CODE + 7,
	  16,
	  0,
	  1 },
	{ "no call before it", { 0x90, 0x90 }, { 0x5d, 0xc3 }, CODE + 7, 0, 0, 0 },
	{ "an instruction unknown", { 0xff, 0xd1 }, { 0x06, 0xc3 }, CODE + 7, 0, 0, 0 },
	{ "it returns to no call", { 0xff, 0xd1 }, { 0x5d, 0xc3 }, CODE + 0x40, 0, 0, 0 },
};

static void a_trampoline_made_at_run_time_is_left_as_its_code_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(trampolines); i++) {
		struct mem *mem =
			image_of_code(trampolines[i].code, sizeof trampolines[i].code);
		struct native_regs regs = some_regs(FUNCTION);
		const struct native_regs before = regs;
		const uint64_t size = trampolines[i].size;

		image_put(mem, FUNCTION - 2, trampolines[i].before, 2);
		image_put(mem, CODE + 2, "\xe8\x01\x02\x03\x04", 5);
		stack_set(mem, SP + (size == 8 ? 0 : 8), trampolines[i].return_address);
		if (size != 8)
			stack_set(mem, SP, 0x1234);
		enum walk_status status =
			native_step_made_code(mem, trampolines[i].is_exact, 0, &regs);

		if ((status == WALK_COMPLETE) != (size != 0))
			fail_msg("%s: %d", trampolines[i].name, status);
		if (size == 0) {
			assert_memory_equal(&regs, &before, sizeof regs);
		} else {
			assert_int_equal(regs.ip, trampolines[i].return_address);
			assert_int_equal(regs.sp, SP + size);
			assert_int_equal(regs.fp,
					 trampolines[i].fp ? trampolines[i].fp : before.fp);
		}
		free(mem);
	}
}

/* rbp is the callee's from the call on, and the caller's is where it leads to. */
static void a_function_that_pops_its_return_address_into_its_frame(void **state)
{
	static const uint8_t pop[] = { 0x8f, 0x45, 0x08, 0x06 };
	struct mem *mem = image_of_code(pop, sizeof pop);
	struct native_regs regs = some_regs(FUNCTION);

	(void)state;
	image_put(mem, CODE + 2, "\xe8\x01\x02\x03\x04", 5);
	stack_set(mem, SP, CODE + 7);
	stack_set(mem, FP, FP + 0x80);
	stack_set(mem, FP + 8, 0x1234);
	assert_int_equal(native_step_made_code(mem, 1, 0, &regs), WALK_COMPLETE);
	assert_int_equal(regs.ip, CODE + 7);
	assert_int_equal(regs.sp, SP + 8);
	assert_int_equal(regs.fp, FP + 0x80);
	/* Behind that instruction it has a frame as others have. */
	regs = some_regs(FUNCTION + 3);
	assert_int_equal(native_step_made_code(mem, 1, 0, &regs), WALK_NO_RULE);
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_up_code_is_understood_at_every_place),
		cmocka_unit_test(a_stack_protectors_jump_is_no_way_to_the_end),
		cmocka_unit_test(code_may_end_right_before_a_gap),
		cmocka_unit_test(other_code_has_no_rule),
		cmocka_unit_test(data_in_the_text_is_not_followed),
		cmocka_unit_test(assembler_is_understood),
		cmocka_unit_test(what_instructions_say_is_a_guess),
		cmocka_unit_test(leave_and_ret_are_understood),
		cmocka_unit_test(a_trampoline_is_known_by_its_code),
		cmocka_unit_test(calls_of_a_programs_beginning_are_the_outermost),
		cmocka_unit_test(a_made_stack_ends_at_what_its_first_function_returns_to),
		cmocka_unit_test(a_made_stack_ends_right_behind_another_function),
		cmocka_unit_test(padding_has_the_rule_of_what_follows),
		cmocka_unit_test(a_frame_pointer_is_followed_only_if_all_is_plausible),
		cmocka_unit_test(a_function_that_pops_its_return_address_into_its_frame),
		cmocka_unit_test(a_trampoline_made_at_run_time_is_left_as_its_code_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
