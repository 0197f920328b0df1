/*
 * cancelled - cancels a thread in each call that waits with a mask or for signals, a hundred
 * times each; prints how many were cancelled, and how many could be joined.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#define ROUNDS 100

static sigset_t all;
static int epoll_fd;
static volatile int is_there, cleaned;

static void wait_by_ppoll(void)
{
	ppoll(NULL, 0, NULL, &all);
}

static void wait_by_pselect(void)
{
	pselect(0, NULL, NULL, NULL, NULL, &all);
}

static void wait_by_epoll(void)
{
	struct epoll_event event;

	epoll_pwait(epoll_fd, &event, 1, -1, &all);
}

static void wait_by_sigsuspend(void)
{
	sigsuspend(&all);
}

static void wait_by_sigwait(void)
{
	int number;

	sigwait(&all, &number);
}

static void wait_by_sigwaitinfo(void)
{
	sigwaitinfo(&all, NULL);
}

static void wait_by_sigtimedwait(void)
{
	sigtimedwait(&all, NULL, NULL);
}

static void (*const waits[])(void) = {
	wait_by_ppoll,   wait_by_pselect,     wait_by_epoll,        wait_by_sigsuspend,
	wait_by_sigwait, wait_by_sigwaitinfo, wait_by_sigtimedwait,
};

static void clean(void *argument)
{
	(void)argument;
	cleaned++;
}

static void *run(void *argument)
{
	void (*const *wait)(void) = argument;

	pthread_cleanup_push(clean, NULL);
	for (volatile int i = 0; i < 300000; i++)
		;
	is_there = 1;
	(*wait)();
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
		int cancelled = 0;

		for (int round = 0; round < ROUNDS; round++) {
			pthread_t thread;
			void *result;

			is_there = 0;
			pthread_create(&thread, NULL, run, (void *)(uintptr_t)&waits[i]);
			while (!is_there)
				;
			if (round % 2)
				usleep(100);
			pthread_cancel(thread);
			pthread_join(thread, &result);
			cancelled += result == PTHREAD_CANCELED;
		}
		printf("%zu: cancelled %d cleaned %d\n", i, cancelled, cleaned);
	}
	return 0;
}
