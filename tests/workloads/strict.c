/*
 * Computes, gives up all system calls but read, write and exit, computes on, and exits with
 * 7.
 */
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "truth.h"

/* In a register: the kernel may make a sandboxed program's stores slower to read back. */
static inline void compute(uint64_t rounds)
{
	for (uint64_t i = 0, x = 1; i < rounds; i++) {
		x = x * 6364136223846793005ULL + 1;
		__asm__ volatile("" : "+r"(x));
	}
}

KEEP static void free_work(uint64_t rounds)
{
	compute(rounds);
}

KEEP static void strict_work(uint64_t rounds)
{
	compute(rounds);
}

int main(int argc, char **argv)
{
	const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000000;

	free_work(rounds);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		return 77;
	strict_work(rounds);
	if (write(STDOUT_FILENO, "done\n", 5) == 5)
		syscall(SYS_exit, 7);
	return 1;
}
