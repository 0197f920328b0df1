#include "collect/switch_cost.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/in_child.h"
#include "collect/perf_events.h"

#define ROUND_TRIPS 100

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static uint64_t thread_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

static int open_sampler(uint64_t period_ns)
{
	return perf_open_sampler((pid_t)gettid(), &(struct perf_sampler){
							  .period_ns = period_ns,
							  .is_user_mode_only = true,
						  });
}

/* Sends back what comes, until nothing does.  Is sampled, too, as the other end would be. */
static void echo(int from, int to, uint64_t period_ns)
{
	char byte;

	open_sampler(period_ns);
	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		continue;
}

static void ping(int to, int from)
{
	char byte = 0;

	for (int i = 0; i < ROUND_TRIPS; i++) {
		if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
			return;
	}
}

/*
 * The period matters: a timer that would expire before the scheduler's tick makes each switch
 * reprogram the machine's timer.
 */
static uint64_t measure(int to, int from, uint64_t period_ns)
{
	int event = open_sampler(period_ns);

	if (event < 0)
		return 0;
	const uint64_t counted = perf_read_counter(event), cpu = thread_cpu_ns();
	const uint64_t switches = thread_switches();

	ping(to, from);
	const uint64_t counted_ns = perf_read_counter(event) - counted;
	const uint64_t cpu_ns = thread_cpu_ns() - cpu, more = thread_switches() - switches;

	if (more == 0 || cpu_ns <= counted_ns)
		return 0;
	return (cpu_ns - counted_ns) / more;
}

/* In a child of ours, with a child of its own at the other end of two pipes. */
static uint64_t measure_in_child(const void *context)
{
	const uint64_t period_ns = *(const uint64_t *)context;
	int there[2], back[2];

	if (pipe(there) < 0 || pipe(back) < 0)
		return 0;
	signal(SIGTRAP, SIG_IGN);
	pid_t pid = fork();

	if (pid < 0)
		return 0;
	if (pid == 0) {
		close(there[1]);
		echo(there[0], back[1], period_ns);
		_exit(0);
	}
	close(back[1]);
	const uint64_t cost_ns = measure(there[1], back[0], period_ns);

	close(there[1]);
	waitpid(pid, NULL, 0);
	return cost_ns;
}

uint64_t switch_cost_measure(uint64_t period_ns)
{
	return in_child(measure_in_child, &period_ns);
}
