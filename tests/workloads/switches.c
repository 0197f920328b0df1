/*
 * switches - two ends wake each other by pipes, tens of thousands of times a second, and work a
 * little in between: heavy() twice as long as light().
 *
 *   switches threads MS    two threads of a process, for so much CPU time of the first
 *   switches processes MS  two processes
 *   switches forks MS      two processes; then the first forks three children that compute
 *   switches siblings MS   two threads on one processor, that only wake each other
 *   switches crowd MS      two processes, the first with 20 threads that sleep until the end and then
 *                          compute
 *   switches quiet MS      the work alone
 *
 * Prints the same with and without a profiler.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

#define LIGHT     8000
#define SLEEPERS  20
#define CHILD_NS  120000000ULL
#define SLEEP_NS  60000000ULL
#define CHILDREN  3
#define QUIET_FEW 100

static volatile uint64_t sink;

/*
 * Each step waits for the last one's product, so that twice as many take twice as long.  Steps that go
 * through memory do not: what a load of what was just stored takes depends on where the loop lies.
 */
static inline void steps(unsigned int count)
{
	uint64_t state = sink;

	while (count-- > 0)
		state = state * 6364136223846793005u + 1442695040888963407u;
	sink = state;
}

KEEP static void heavy(void)
{
	steps(2 * LIGHT);
}

KEEP static void light(void)
{
	steps(LIGHT);
}

KEEP static void work_of_child(uint64_t until_ns)
{
	while (truth_thread_cpu_ns() < until_ns)
		heavy();
}

/* Not less than this is missing where a call was interrupted. */
static int is_interrupted;

static int is_idle;

static int pass(int from, int to)
{
	char byte;

	const ssize_t got = read(from, &byte, 1);

	is_interrupted |= got < 0;
	if (got != 1)
		return 0;
	if (!is_idle) {
		heavy();
		light();
	}
	return write(to, &byte, 1) == 1;
}

struct ends {
	int from, to;
};

static void *echo(void *argument)
{
	const struct ends *ends = argument;

	while (pass(ends->from, ends->to))
		continue;
	close(ends->to);
	return NULL;
}

static void ping(struct ends ends, uint64_t budget_ns)
{
	const uint64_t until_ns = truth_thread_cpu_ns() + budget_ns;

	if (write(ends.to, "x", 1) != 1)
		exit(1);
	for (int i = 0; i % 64 != 0 || truth_thread_cpu_ns() < until_ns; i++) {
		if (!pass(ends.from, ends.to))
			exit(1);
	}
}

static void end_of(struct ends ends)
{
	char byte;

	close(ends.to);
	while (read(ends.from, &byte, 1) == 1)
		continue;
}

static void quiet(uint64_t budget_ns)
{
	while (truth_thread_cpu_ns() < budget_ns) {
		for (int i = 0; i < QUIET_FEW; i++) {
			heavy();
			light();
		}
	}
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *sleeper(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	work_of_child(truth_thread_cpu_ns() + SLEEP_NS);
	return NULL;
}

static void children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		if (fork() == 0) {
			work_of_child(CHILD_NS);
			_exit(7);
		}
	}
	for (int i = 0, status; i < CHILDREN; i++) {
		wait(&status);
		printf("child ended with %d\n", WEXITSTATUS(status));
	}
}

static void stay_on_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
	int there[2], back[2], status;
	pthread_t thread, sleepers[SLEEPERS];
	const char *kind = argc > 1 ? argv[1] : "threads";
	const uint64_t budget_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1000) * 1000000;
	const int is_crowd = strcmp(kind, "crowd") == 0;

	is_idle = strcmp(kind, "siblings") == 0;
	signal(SIGPIPE, SIG_IGN);
	if (is_idle)
		stay_on_one_processor();
	if (strcmp(kind, "quiet") == 0) {
		quiet(budget_ns);
	} else if (pipe(there) < 0 || pipe(back) < 0) {
		return 1;
	} else if (is_idle || strcmp(kind, "threads") == 0) {
		struct ends other = { there[0], back[1] };

		pthread_create(&thread, NULL, echo, &other);
		ping((struct ends){ back[0], there[1] }, budget_ns);
		end_of((struct ends){ back[0], there[1] });
		pthread_join(thread, NULL);
	} else {
		const pid_t pid = fork();

		if (pid == 0) {
			close(there[1]);
			echo(&(struct ends){ there[0], back[1] });
			_exit(is_interrupted ? 5 : 6);
		}
		close(back[1]);
		pthread_mutex_lock(&gate);
		for (int i = 0; is_crowd && i < SLEEPERS; i++)
			pthread_create(&sleepers[i], NULL, sleeper, NULL);
		ping((struct ends){ back[0], there[1] }, budget_ns);
		end_of((struct ends){ back[0], there[1] });
		waitpid(pid, &status, 0);
		printf("the other end ended with %d\n", WEXITSTATUS(status));
		pthread_mutex_unlock(&gate);
		for (int i = 0; is_crowd && i < SLEEPERS; i++)
			pthread_join(sleepers[i], NULL);
		if (strcmp(kind, "forks") == 0)
			children();
	}
	printf("%s: %s\n", kind, is_interrupted ? "a call was interrupted" : "done");
	return 3;
}
