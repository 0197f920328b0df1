/*
 * unheeding - takes SIGTRAP by a system call of its own, past libc, and computes for 0.2 s.
 *
 * As language runtimes without a libc do, it leaves the signal its default action.
 */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "truth.h"

static volatile uint64_t sink;

/* As the kernel has it (include/uapi/asm-generic/signal.h); all zero is SIG_DFL. */
struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};

static long system_call(long number, long a, const void *b, long c, long d)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = (long)b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#endif
}

int main(void)
{
	const struct kernel_action action = { 0 };

	if (system_call(SYS_rt_sigaction, SIGTRAP, &action, 0, 8) != 0)
		return 77;
	while (truth_thread_cpu_ns() < 200000000) {
		for (int i = 0; i < 100000; i++)
			sink += (uint64_t)i;
	}
	return 3;
}
