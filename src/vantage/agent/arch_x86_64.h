/*
 * arch_x86_64 - what the agent must know of the machine: system calls without a
 * libc, the registers of an interrupted thread.
 */
#pragma once
#include <ucontext.h>

#include "abi/types.h"

/* The ABI lets a leaf use this much below its stack pointer, and signals spare it: registers
 * that were popped a moment ago still have their slots there. */
#define ARCH_RED_ZONE 128ULL

static inline long arch_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long arch_syscall4(long number, long a, long b, long c, long d)
{
	return arch_syscall6(number, a, b, c, d, 0, 0);
}

/* Where the thread's control block lies: the upper end of a stack glibc made. */
static inline u64 arch_thread_pointer(void)
{
	u64 pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

#define ARCH_REGS_OF(uc)                                     \
	{                                                    \
		.ip = (u64)(uc)->uc_mcontext.gregs[REG_RIP], \
		.sp = (u64)(uc)->uc_mcontext.gregs[REG_RSP], \
		.fp = (u64)(uc)->uc_mcontext.gregs[REG_RBP], \
		.bx = (u64)(uc)->uc_mcontext.gregs[REG_RBX], \
	}

#define ARCH_PC_OF(uc) ((u64)(uc)->uc_mcontext.gregs[REG_RIP])

/* The instruction `syscall`. */
#define ARCH_CALL       "\x0f\x05"
#define ARCH_CALL_BYTES 2

/* A register by its DWARF number (System V ABI for AMD64, figure 3.36). */
static inline u64 arch_register_of(const ucontext_t *context, u32 number)
{
	static const u8 places[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15 };

	if (number >= sizeof places)
		return 0;
	return (u64)context->uc_mcontext.gregs[places[number]];
}
