/*
 * attached - waits in calls that any signal would interrupt, beside threads that burn, until it is
 * asked to end; prints how many waits failed, ended early, or left wrong vector registers.
 *
 * usage: attached THREADS      ends when standard input does
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 20

static int wrong_registers;

/* A value that lives in vector registers all along, and memory that is allocated beside. */
static void *burn(void *unused)
{
	double sums[8];

	for (long round = 0;; round++) {
		char *memory = malloc((size_t)(100 + round % 5000));

		memory[0] = (char)round;
		for (int i = 0; i < 8; i++)
			sums[i] = (double)round;
		for (int turn = 0; turn < 500; turn++) {
			for (int i = 0; i < 8; i++)
				sums[i] += 1;
			__asm__ volatile("" : "+m"(memory[0]));
		}
		for (int i = 0; i < 8; i++)
			if (sums[i] != (double)(round + 500))
				__atomic_fetch_add(&wrong_registers, 1, __ATOMIC_RELAXED);
		free(memory);
	}
	return unused;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool is_over(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };

	return poll(&input, 1, 0) > 0;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 0;
	const int epoll = epoll_create1(0);
	int failed = 0, early = 0, waits = 0;
	struct epoll_event event;
	pthread_t thread;

	for (int i = 0; i < threads; i++)
		pthread_create(&thread, NULL, burn, NULL);
	puts("ready");
	fflush(stdout);
	for (; !is_over(); waits++) {
		const double begin = now();
		const int rc = epoll_wait(epoll, &event, 1, WAIT_MS);

		failed += rc < 0;
		early += now() - begin < (WAIT_MS - 1) / 1e3;
		failed += usleep(3000) < 0;
	}
	printf("failed %d early %d wrong %d waits %s\n", failed, early, wrong_registers,
	       waits > 0 ? "some" : "none");
	return 3;
}
