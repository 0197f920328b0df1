/*
 * traced_child - a parent that traces its child, as debuggers start programs: counts the
 * child's stops by the signal an exec brings, and all others.
 *
 * The child computes before it asks to be traced, and for 100 ms after: a profiler's signal
 * would be a stop.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

static volatile uint64_t sink;

static void compute(uint64_t budget_ns)
{
	const uint64_t until_ns = truth_thread_cpu_ns() + budget_ns;

	while (truth_thread_cpu_ns() < until_ns) {
		for (int i = 0; i < 10000; i++)
			sink += (uint64_t)i;
	}
}

static void child(void)
{
	compute(30000000);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(77);
	compute(100000000);
	execl("/bin/true", "true", (char *)NULL);
	_exit(1);
}

int main(void)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0)
		child();
	truth_add(TRUTH_COUNT, "exec_stops", 0);
	truth_add(TRUTH_COUNT, "other_stops", 0);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		siginfo_t info = { 0 };

		ptrace(PTRACE_GETSIGINFO, pid, NULL, &info);
		/* The exec's SIGTRAP is sent as if by kill(2) (ptrace(2)). */
		truth_add(TRUTH_COUNT,
			  info.si_signo == SIGTRAP && info.si_code == SI_USER ? "exec_stops"
									      : "other_stops",
			  1);
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	truth_print();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
