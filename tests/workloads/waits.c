/*
 * waits - threads that wait, each for something else: three for each other's mutexes in a circle,
 * one in poll, one in epoll_wait, one in nanosleep, one for a condition; and the first in read.
 * Prints a line when all have begun, and ends with its standard input.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutexes[3];
static pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

static void *in_a_circle(void *number)
{
	const long i = (long)number;

	pthread_mutex_lock(&mutexes[i]);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutexes[(i + 1) % 3]);
	return NULL;
}

static void *in_poll(void *unused)
{
	int sockets[2], ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0 || pipe(ends) < 0)
		abort();
	struct pollfd entries[] = { { sockets[0], POLLIN, 0 },
				    { sockets[1], POLLIN, 0 },
				    { ends[0], POLLIN, 0 } };

	poll(entries, 3, -1);
	return unused;
}

static void *in_epoll(void *unused)
{
	const int epoll = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
		abort();
	for (int i = 0; i < 2; i++)
		epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[i], &event);
	epoll_wait(epoll, &event, 1, -1);
	return unused;
}

static void *in_sleep(void *unused)
{
	const struct timespec time = { 5000, 500000000 };

	nanosleep(&time, NULL);
	return unused;
}

static void *for_a_condition(void *unused)
{
	pthread_mutex_lock(&free_mutex);
	pthread_cond_wait(&condition, &free_mutex);
	return unused;
}

int main(void)
{
	void *(*const others[])(void *) = { in_poll, in_epoll, in_sleep, for_a_condition };
	pthread_t thread;
	char byte;

	pthread_barrier_init(&barrier, NULL, 3);
	for (long i = 0; i < 3; i++)
		pthread_create(&thread, NULL, in_a_circle, (void *)i);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		pthread_create(&thread, NULL, others[i], NULL);
	puts("ready");
	fflush(stdout);
	return read(STDIN_FILENO, &byte, 1) < 0;
}
