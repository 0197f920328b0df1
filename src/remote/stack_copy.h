/*
 * stack_copy - the registers and the top of the stack that the kernel copies into a perf sample
 * (PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER).
 *
 * The kernel wrote the record, but the stack's contents are the program's: no value in it is
 * followed before it has been bounded.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "remote/walk.h"

struct bytes;

#if defined(__aarch64__)
/* x0 to x30, sp, pc: numbered as DWARF does (asm/perf_regs.h). */
#define STACK_COPY_REGISTERS 33
#define STACK_COPY_MASK      ((1ULL << STACK_COPY_REGISTERS) - 1)
#else
/*
 * ax bx cx dx si di bp sp ip flags, and r8 to r15 after the segment registers
 * (asm/perf_regs.h).
 */
#define STACK_COPY_REGISTERS 18
#define STACK_COPY_MASK      0xff03ffULL
#endif

struct stack_copy {
	struct walk_registers registers;
	const uint8_t *stack; /* from registers.sp on: points into the parsed record */
	size_t len;
	bool is_32_bit; /* the thread ran in the processor's 32-bit mode */
};

/*
 * Parses both from the remainder of a sample. -ENODATA: the thread has no user registers (a
 * kernel thread, or one that has given up its memory); -EBADMSG: the record is truncated.
 */
int stack_copy_take(struct bytes *b, struct stack_copy *out_copy);
