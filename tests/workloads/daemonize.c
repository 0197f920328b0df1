/*
 * daemonize - leaves a grandchild behind in a session of its own, which computes for
 * 100 ms, sleeps until SECONDS have passed and computes again: daemonize SECONDS.
 */
#include "truth.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

KEEP static uint64_t work_of_the_survivor(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void compute_until(uint64_t cpu_ns)
{
	while (truth_thread_cpu_ns() < cpu_ns)
		sink = work_of_the_survivor(100000);
}

int main(int argc, char **argv)
{
	struct timespec rest = { .tv_sec = argc > 1 ? atoi(argv[1]) : 1 };

	if (fork() != 0)
		return 0;
	if (setsid() < 0 || fork() != 0)
		_exit(0);
	/* Whoever waits for the end of this output must not wait for the daemon. */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	compute_until(100000000);
	while (nanosleep(&rest, &rest) != 0)
		;
	compute_until(200000000);
	return 0;
}
