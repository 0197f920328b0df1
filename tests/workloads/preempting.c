/*
 * preempting - takes the processor for 20 microseconds, again and again, from what computes there,
 * until it is killed or its parent ends.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>

#include "truth.h"

#define SLEEP_NS 150000
#define WORK_NS  20000

int main(void)
{
	const struct timespec pause = { .tv_nsec = SLEEP_NS };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A sleep of 150 us is to take as long. */
	prctl(PR_SET_TIMERSLACK, 1);
	for (;;) {
		const uint64_t began_ns = truth_thread_cpu_ns();

		while (truth_thread_cpu_ns() - began_ns < WORK_NS)
			continue;
		nanosleep(&pause, NULL);
	}
}
