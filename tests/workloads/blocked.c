/*
 * blocked - threads that wait at the bottom of stacks they know.
 *
 *	blocked still N    N threads, each waiting for good: in read, poll, futex, nanosleep, and a
 *	                   system call of its own making
 *	blocked churn N    N threads that wait for a while, over and over, each time at another
 *	                   depth k: level_0 to level_k, and poll(…, k + 1 ms)
 *	blocked busy N     N threads that burn processor time, each at another depth: level_0 to
 *	                   level_k, and burn_here
 *
 * Prints one line when all have begun: {"threads": {"<tid>": {"how": …, "functions": [outermost
 * first]}}}; then waits until its standard input ends.
 */
#include <alloca.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST   400
#define LEVELS 8
#define HOWS   5

#define STAYS() __asm__ volatile("" ::: "memory")

static const char *const hows[HOWS] = { "read", "poll", "futex", "nanosleep", "syscall" };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2];
static pid_t tids[MOST];
static atomic_int begun;
static int is_busy;
static volatile unsigned long sink;

void wait_here(int how);
void plain(int how, unsigned path, int depth);
void with_alloca(int how, unsigned path, int depth);

__attribute__((noinline)) void wait_here(int how)
{
	struct pollfd poll_pipe = { pipes[0], POLLIN, 0 };
	struct timespec long_time = { 100000, 0 };
	char byte;

	if (how == 0 && read(pipes[0], &byte, 1) < 0)
		abort();
	if (how == 1)
		poll(&poll_pipe, 1, -1);
	if (how == 2)
		pthread_mutex_lock(&mutex);
	if (how == 3)
		nanosleep(&long_time, NULL);
	if (how == 4)
		syscall(SYS_read, pipes[0], &byte, 1);
	STAYS();
}

static void next(int how, unsigned path, int depth)
{
	if (depth == 0)
		wait_here(how);
	else if (path & 1)
		with_alloca(how, path >> 1, depth - 1);
	else
		plain(how, path >> 1, depth - 1);
}

__attribute__((noinline)) void plain(int how, unsigned path, int depth)
{
	next(how, path, depth);
	STAYS();
}

__attribute__((noinline)) void with_alloca(int how, unsigned path, int depth)
{
	char *room = alloca(40 + (size_t)depth * 16);

	memset(room, how, 40);
	__asm__ volatile("" ::"r"(room) : "memory");
	next(how, path, depth);
	__asm__ volatile("" ::"r"(room) : "memory");
}

static int depth_of(long n)
{
	return (int)(n % 13);
}

static void *wait_for_good(void *number)
{
	const long n = (long)number;

	tids[n] = (pid_t)syscall(SYS_gettid);
	begun++;
	plain((int)(n % HOWS), (unsigned)(n * 2654435761U), depth_of(n));
	return NULL;
}

__attribute__((noinline)) static void burn_here(void)
{
	for (;;)
		sink = sink * 3 + 1;
}

#define LEVEL(n, following)                              \
	__attribute__((noinline)) void level_##n(int k); \
	__attribute__((noinline)) void level_##n(int k)  \
	{                                                \
		if (k == (n) && is_busy)                 \
			burn_here();                     \
		else if (k == (n))                       \
			poll(NULL, 0, k + 1);            \
		else                                     \
			following(k);                    \
		STAYS();                                 \
	}
static void no_level(int k)
{
	(void)k;
}
LEVEL(7, no_level)
LEVEL(6, level_7)
LEVEL(5, level_6)
LEVEL(4, level_5)
LEVEL(3, level_4)
LEVEL(2, level_3)
LEVEL(1, level_2)
LEVEL(0, level_1)

static void *wait_and_wait(void *number)
{
	unsigned seed = (unsigned)(long)number;

	tids[(long)number] = (pid_t)syscall(SYS_gettid);
	begun++;
	if (is_busy)
		level_0((int)seed % LEVELS);
	for (;;) {
		seed = seed * 1103515245U + 12345U;
		level_0((int)(seed >> 16) % LEVELS);
	}
	return NULL;
}

static void print_functions(long n)
{
	unsigned path = (unsigned)(n * 2654435761U);

	printf("\"plain\"");
	for (int depth = depth_of(n); depth > 0; depth--, path >>= 1)
		printf(", \"%s\"", path & 1 ? "with_alloca" : "plain");
	printf(", \"wait_here\"");
}

int main(int argc, char **argv)
{
	const long count = argc == 3 ? atol(argv[2]) : 0;
	const int is_still = argc == 3 && strcmp(argv[1], "still") == 0;
	pthread_t thread;
	char byte;

	is_busy = argc == 3 && strcmp(argv[1], "busy") == 0;
	if (count < 1 || count > MOST || pipe(pipes) < 0)
		return 2;
	pthread_mutex_lock(&mutex);
	for (long n = 0; n < count; n++)
		pthread_create(&thread, NULL, is_still ? wait_for_good : wait_and_wait,
			       (void *)n);
	while (begun < count)
		usleep(1000);
	printf("{\"threads\": {");
	for (long n = 0; n < count; n++) {
		printf("%s\"%d\": {\"how\": \"%s\", \"functions\": [", n > 0 ? ", " : "",
		       tids[n], hows[n % HOWS]);
		if (is_still)
			print_functions(n);
		printf("]}");
	}
	printf("}}\n");
	fflush(stdout);
	return read(STDIN_FILENO, &byte, 1) < 0;
}
