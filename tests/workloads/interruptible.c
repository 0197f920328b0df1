/*
 * interruptible - calls that a signal would interrupt, between pieces of work: poll,
 * nanosleep, reads from a pipe, a condition with a time limit, epoll_wait.  Counts each EINTR,
 * each short sleep and each unexpected answer.
 */
#include "truth.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define TURNS 250

static volatile uint64_t sink;
static int pipe_ends[2];

KEEP static uint64_t compute(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void *feed_the_pipe(void *argument)
{
	for (int i = 0; i < TURNS; i++) {
		sink = compute(300000);
		nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
		if (write(pipe_ends[1], "x", 1) != 1)
			abort();
	}
	return argument;
}

static void count_answer(const char *call, int is_expected)
{
	if (is_expected)
		return;
	if (errno == EINTR)
		truth_add(TRUTH_COUNT, "eintr", 1);
	truth_add(TRUTH_COUNT, call, 1);
}

static void sleep_in_every_way(int epoll, sem_t *never)
{
	struct timespec soon, one_ms = { .tv_nsec = 1000000 };
	struct epoll_event event;
	char byte;

	sink = compute(100000);
	count_answer("poll", poll(NULL, 0, 1) == 0);
	sink = compute(100000);
	count_answer("ppoll", ppoll(NULL, 0, &one_ms, NULL) == 0);
	sink = compute(100000);
	count_answer("nanosleep", nanosleep(&one_ms, NULL) == 0);
	sink = compute(100000);
	count_answer("epoll_wait", epoll_wait(epoll, &event, 1, 1) == 0);
	sink = compute(100000);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += 1000000;
	soon.tv_sec += soon.tv_nsec / 1000000000;
	soon.tv_nsec %= 1000000000;
	count_answer("sem_timedwait", sem_timedwait(never, &soon) == -1 && errno == ETIMEDOUT);
	count_answer("read", read(pipe_ends[0], &byte, 1) == 1);
}

int main(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	pthread_t feeder;
	sem_t never;

	truth_add(TRUTH_COUNT, "eintr", 0);
	if (epoll < 0 || pipe(pipe_ends) != 0 || sem_init(&never, 0, 0) != 0 ||
	    pthread_create(&feeder, NULL, feed_the_pipe, NULL) != 0)
		return 2;
	for (int turn = 0; turn < TURNS; turn++)
		sleep_in_every_way(epoll, &never);
	pthread_join(feeder, NULL);
	truth_add(TRUTH_COUNT, "turns", TURNS);
	truth_print();
	return 0;
}
