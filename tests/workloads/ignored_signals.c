/*
 * ignored_signals [SIGNALS] - signals that the process ignores are sent to it while its first
 * thread computes and others wait.
 *
 * The kernel drops them, so no wait may end: epoll_wait() and sigwaitinfo() fail with EINTR
 * where a thread is as much as woken by a signal.  Every so often one of the signals gets a
 * handler, and is ignored again: what is sent in between is to be handled once.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "truth.h"

#define SENT_WITH_HANDLER 50

/* Ignored by default but for the last two. */
static const int numbers[] = { SIGCHLD, SIGWINCH, SIGURG, SIGCONT, SIGUSR1, SIGHUP };
#define NUMBERS (sizeof numbers / sizeof numbers[0])

static uint64_t to_be_sent = 20000;
static volatile int is_begun, is_over;
static pthread_t waiters[2];
static uint64_t waits, ended_waits, timed_waits, ended_timed_waits, handled, sent_to_handler;
static volatile uint64_t sink;

static void on_signal(int number)
{
	(void)number;
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void set_handler(int number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

static void send_all(void)
{
	for (uint64_t i = 0; i < to_be_sent; i++) {
		const struct timespec a_while = { .tv_nsec = 1000 * (20 + (long)(i % 32)) };

		kill(getpid(), numbers[i % NUMBERS]);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &a_while, NULL);
	}
}

/* This thread blocks them: they are handled by the first, and not missed. */
static void send_with_handler(int number)
{
	set_handler(number, on_signal);
	for (uint64_t i = 0; i < SENT_WITH_HANDLER; i++) {
		const uint64_t before = __atomic_load_n(&handled, __ATOMIC_RELAXED);

		kill(getpid(), number);
		sent_to_handler++;
		while (__atomic_load_n(&handled, __ATOMIC_RELAXED) == before)
			usleep(10);
	}
	set_handler(number, number == SIGUSR1 || number == SIGHUP ? SIG_IGN : SIG_DFL);
}

static void *send_signals(void *argument)
{
	sigset_t all;

	/* The first thread blocks all signals while it makes another. */
	while (!is_begun)
		usleep(10);
	send_all();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	is_over = 1;
	/* Their waits would end. */
	pthread_join(waiters[0], NULL);
	pthread_join(waiters[1], NULL);
	for (unsigned i = 0; i < NUMBERS; i++)
		send_with_handler(numbers[i]);
	is_over = 2;
	return argument;
}

static void *wait_for_events(void *argument)
{
	const int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;

	for (; !is_over; waits++)
		ended_waits += epoll_wait(fd, &event, 1, 5) != 0;
	close(fd);
	return argument;
}

static void *wait_for_signal(void *argument)
{
	const struct timespec limit = { .tv_nsec = 5000000 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	for (; !is_over; timed_waits++)
		ended_timed_waits += sigtimedwait(&set, NULL, &limit) != -1 || errno != EAGAIN;
	return argument;
}

KEEP static void compute(uint64_t steps)
{
	while (steps--)
		sink += steps;
}

int main(int argc, char **argv)
{
	pthread_t sender;

	if (argc > 1)
		to_be_sent = strtoull(argv[1], NULL, 10);
	set_handler(SIGUSR1, SIG_IGN);
	set_handler(SIGHUP, SIG_IGN);
	if (pthread_create(&waiters[0], NULL, wait_for_events, NULL) != 0 ||
	    pthread_create(&waiters[1], NULL, wait_for_signal, NULL) != 0 ||
	    pthread_create(&sender, NULL, send_signals, NULL) != 0)
		return 2;
	is_begun = 1;
	while (is_over < 2)
		compute(1000);
	pthread_join(sender, NULL);
	truth_add(TRUTH_COUNT, "waits", waits);
	truth_add(TRUTH_COUNT, "ended_waits", ended_waits);
	truth_add(TRUTH_COUNT, "timed_waits", timed_waits);
	truth_add(TRUTH_COUNT, "ended_timed_waits", ended_timed_waits);
	truth_add(TRUTH_COUNT, "sent_to_handler", sent_to_handler);
	truth_add(TRUTH_COUNT, "handled", handled);
	truth_print();
	return 0;
}
