/*
 * astray - code whose unwind rules lead a stack walker to addresses that cannot be read.
 *
 * It says of itself that its caller's address lies where its first argument points, which a
 * register holds that calls preserve: so a walk reads there.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Runs for some microseconds, with its frame said to be at `frame`. */
void astray_run_at(uintptr_t frame, uint64_t rounds);

#if defined(__x86_64__)
__asm__(".text\n"
	".globl astray_run_at\n"
	".type astray_run_at, @function\n"
	"astray_run_at:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	"mov %rdi, %rbx\n"
	".cfi_def_cfa %rbx, 16\n"
	"1: imul $3, %rsi, %rax\n"
	"dec %rsi\n"
	"jnz 1b\n"
	".cfi_def_cfa %rsp, 16\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size astray_run_at, . - astray_run_at\n");
#else
void astray_run_at(uintptr_t frame, uint64_t rounds)
{
	volatile uint64_t x = frame;

	while (rounds--)
		x = x * 3;
}
#endif

static struct {
	uintptr_t frames[8];
	uint32_t count, next;
} astray;

/* Two more that cannot be read, of kinds of their own. */
static inline void astray_begin(const void *one, const void *other)
{
	const uintptr_t frames[] = {
		(uintptr_t)one + 64, (uintptr_t)other + 64, 0x1008,
		0x8000000000001008U, 0xffffffff80000008U,   0x7ffffffff008U
	};

	for (uint32_t i = 0; i < sizeof frames / sizeof frames[0]; i++)
		astray.frames[astray.count++] = frames[i];
}

static inline void astray_run(void)
{
	astray_run_at(astray.frames[astray.next++ % astray.count], 100000);
}
