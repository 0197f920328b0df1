/*
 * floor - the least that any sampler with this trigger can cost: a preloaded object
 * that opens the same trap on the program's own CPU clock and handles it by doing nothing.
 *
 * FLOOR_PERIOD_NS is the period.  Where the kernel's time may not be counted, only the
 * user's is.  FLOOR_COUNT names a file to which each process appends how many traps it got.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic unsigned long traps;

static void do_nothing(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	atomic_fetch_add_explicit(&traps, 1, memory_order_relaxed);
}

/* The kernel's signal set is 8 bytes wherever it is 64 signals. */
#define KERNEL_SIGSET_BYTES 8

/* Worker threads like to block every signal (xz's do): the trap stays out of their masks. */
static int set_mask(int how, const sigset_t *set, sigset_t *before)
{
	sigset_t without_trap;

	if (set != NULL && how != SIG_UNBLOCK) {
		without_trap = *set;
		sigdelset(&without_trap, SIGTRAP);
		set = &without_trap;
	}
	return (int)syscall(SYS_rt_sigprocmask, how, set, before, KERNEL_SIGSET_BYTES);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	return set_mask(how, set, before);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	return set_mask(how, set, before) == 0 ? 0 : errno;
}

static int open_trap(unsigned long long period_ns, bool is_user_only)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = period_ns;
	attr.exclude_kernel = is_user_only ? 1 : 0;
	attr.exclude_hv = 1;
	attr.inherit = 1;
	attr.inherit_thread = 1;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

__attribute__((constructor)) static void start_trapping(void)
{
	const char *period = getenv("FLOOR_PERIOD_NS");
	struct sigaction action = { .sa_sigaction = do_nothing,
				    .sa_flags = SA_SIGINFO | SA_RESTART };

	if (period == NULL || sigaction(SIGTRAP, &action, NULL) != 0)
		return;
	if (open_trap(strtoull(period, NULL, 10), false) < 0)
		open_trap(strtoull(period, NULL, 10), true);
}

__attribute__((destructor)) static void print_count(void)
{
	const char *path = getenv("FLOOR_COUNT");
	char line[32];

	if (path == NULL)
		return;
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int len = snprintf(line, sizeof line, "%lu\n", atomic_load(&traps));
	if (fd >= 0 && write(fd, line, (size_t)len) == len)
		close(fd);
}
