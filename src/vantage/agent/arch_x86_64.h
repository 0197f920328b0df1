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
