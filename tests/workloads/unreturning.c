/*
 * Computes, makes it impossible for a signal handler to return, computes on, and exits with 7.
 *
 *	unreturning filter     a seccomp filter lets write, exit and clock_gettime pass, no more
 *	unreturning dispatch   its system calls come to a handler of its own, rt_sigreturn too
 *	unreturning libc       the same, but for those that libc's code makes
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

#define ROUNDS 200000000

static volatile char selector; /* 1: calls are dispatched */

static void compute(void)
{
	for (uint64_t i = 0, x = 1; i < ROUNDS; i++) {
		x = x * 6364136223846793005ULL + 1;
		__asm__ volatile("" : "+r"(x));
	}
}

static int filter(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = { sizeof steps / sizeof steps[0], steps };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int dispatch(void)
{
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector) != 0)
		return -1;
	selector = 1;
	return 0;
}

/* Which of libc's images has executable code, and where. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *found)
{
	unsigned long *range = found;

	(void)size;
	if (strstr(info->dlpi_name, "libc.so") == NULL)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if ((info->dlpi_phdr[i].p_flags & PF_X) == 0)
			continue;
		range[0] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		range[1] = info->dlpi_phdr[i].p_memsz;
	}
	return 1;
}

/* syscall() and prctl() are libc's: neither comes to the handler. */
static void fail(int signal)
{
	selector = 0;
	_exit(signal);
}

static int dispatch_all_but_libc(void)
{
	unsigned long range[2] = { 0 };

	signal(SIGSYS, fail);
	if (dl_iterate_phdr(find_libc, range) != 1 ||
	    prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, range[0], range[1], &selector) != 0)
		return -1;
	selector = 1;
	return syscall(SYS_getpid) > 0 && prctl(PR_GET_DUMPABLE) >= 0 ? 0 : -1;
}

static int restrict_calls(const char *way)
{
	if (strcmp(way, "filter") == 0)
		return filter();
	return strcmp(way, "libc") == 0 ? dispatch_all_but_libc() : dispatch();
}

int main(int argc, char **argv)
{
	compute();
	if (argc < 2 || restrict_calls(argv[1]) != 0)
		return 77;
	compute();
	selector = 0;
	if (write(STDOUT_FILENO, "done\n", 5) == 5)
		_exit(7);
	return 1;
}
