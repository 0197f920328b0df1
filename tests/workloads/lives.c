/*
 * lives - threads that wait, each for one thing, and measure themselves for how long.
 *
 * usage: lives SECONDS
 *
 * Prints what is true: for each thread its name, the state it waited in, and how long its waiting
 * calls took by CLOCK_MONOTONIC, with what it waited for a CPU behind them; and how many calls
 * gave EINTR.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct life {
	const char *name, *state;
	void (*wait)(struct life *life);
	uint64_t step_ns; /* of a sleep */
	uint64_t waited_ns, waits;
	pthread_t thread;
};

static uint64_t until_ns;
static unsigned int interrupted;
static int pipe_ends[2], event;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t burned;

static void count(long result)
{
	if (result < 0 && errno == EINTR)
		__atomic_add_fetch(&interrupted, 1, __ATOMIC_RELAXED);
}

static void nap(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	/* It returns the error. */
	if (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == EINTR)
		__atomic_add_fetch(&interrupted, 1, __ATOMIC_RELAXED);
}

static void sleeps(struct life *life)
{
	nap(life->step_ns);
}

static void reads(struct life *life)
{
	char byte;

	(void)life;
	count(read(pipe_ends[0], &byte, 1));
}

static void polls(struct life *life)
{
	struct pollfd fd = { .fd = event, .events = POLLIN };

	(void)life;
	count(poll(&fd, 1, 30));
}

static void locks(struct life *life)
{
	(void)life;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void waits_for_child(struct life *life)
{
	const pid_t child = fork();

	(void)life;
	if (child == 0) {
		nap(40000000);
		_exit(0);
	}
	count(waitpid(child, NULL, 0));
}

static void *live(void *argument)
{
	struct life *life = argument;

	prctl(PR_SET_NAME, life->name);
	while (now_ns() < until_ns) {
		const uint64_t from_ns = now_ns();

		life->wait(life);
		life->waited_ns += now_ns() - from_ns;
		life->waits++;
	}
	return NULL;
}

/* Holds the mutex for 50 ms of each 60, and burns 2 ms of them. */
static void *hold(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "holder");
	while (now_ns() < until_ns) {
		pthread_mutex_lock(&mutex);
		const uint64_t from_ns = thread_cpu_ns();

		while (thread_cpu_ns() - from_ns < 2000000)
			burned++;
		nap(48000000);
		pthread_mutex_unlock(&mutex);
		nap(10000000);
	}
	return NULL;
}

static struct life lives[] = {
	{ .name = "long-sleep", .state = "sleep", .wait = sleeps, .step_ns = 200000000 },
	{ .name = "sleep", .state = "sleep", .wait = sleeps, .step_ns = 5000000 },
	{ .name = "short-sleep", .state = "sleep", .wait = sleeps, .step_ns = 200000 },
	{ .name = "reader", .state = "io", .wait = reads },
	{ .name = "poller", .state = "io", .wait = polls },
	{ .name = "locker", .state = "lock", .wait = locks },
	{ .name = "parent", .state = "wait", .wait = waits_for_child },
};

#define LIVES (sizeof lives / sizeof *lives)

int main(int argc, char **argv)
{
	pthread_t holder;

	until_ns = now_ns() + (uint64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
	event = eventfd(0, 0);
	if (pipe(pipe_ends) < 0 || event < 0)
		return 1;
	pthread_create(&holder, NULL, hold, NULL);
	for (size_t i = 0; i < LIVES; i++)
		pthread_create(&lives[i].thread, NULL, live, &lives[i]);
	while (now_ns() < until_ns) {
		nap(25000000);
		count(write(pipe_ends[1], "x", 1));
	}
	/* The reader may be in its last wait. */
	count(write(pipe_ends[1], "x", 1));
	pthread_join(holder, NULL);
	for (size_t i = 0; i < LIVES; i++)
		pthread_join(lives[i].thread, NULL);
	printf("{\"interrupted\": %u, \"threads\": {", interrupted);
	for (size_t i = 0; i < LIVES; i++)
		printf("%s\"%s\": {\"state\": \"%s\", \"ns\": %llu, \"waits\": %llu}",
		       i > 0 ? ", " : "", lives[i].name, lives[i].state,
		       (unsigned long long)lives[i].waited_ns,
		       (unsigned long long)lives[i].waits);
	printf("}}\n");
	return 0;
}
