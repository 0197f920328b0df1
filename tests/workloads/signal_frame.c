/*
 * signal_frame - a signal handler computes on top of whatever it interrupted: half
 * of the time it is raised by the program, half of the time a timer sends it.
 */
#include "truth.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

static volatile uint64_t sink, handled_ns;

KEEP static uint64_t compute_in_handler(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t interrupted(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

static void handler(int number)
{
	uint64_t before = truth_thread_cpu_ns();

	(void)number;
	sink = compute_in_handler(700000);
	handled_ns += truth_thread_cpu_ns() - before;
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 800);
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval each_12_ms = { { 0, 12000 }, { 0, 12000 } },
			 off = { { 0, 0 }, { 0, 0 } };

	sigfillset(&action.sa_mask); /* or the time of one in the other would count twice */
	sigdelset(&action.sa_mask, SIGTRAP);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &each_12_ms, NULL);
	uint64_t begin = truth_thread_cpu_ns(), now = begin;
	for (uint64_t turn = 0; now < budget; turn++) {
		sink = interrupted(truth_vary(turn, 500000, 300000));
		if (turn % 8 == 0)
			raise(SIGUSR1);
		now = truth_thread_cpu_ns();
	}
	setitimer(ITIMER_VIRTUAL, &off, NULL);
	truth_add(TRUTH_SELF, "compute_in_handler", handled_ns);
	truth_add(TRUTH_SELF, "interrupted", now - begin - handled_ns);
	truth_add(TRUTH_TOTAL, "handler", handled_ns);
	truth_print();
	return 0;
}
