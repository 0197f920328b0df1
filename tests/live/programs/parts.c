/* Two threads that take turns at system calls, page faults and code of their own; prints its own truth, in seconds. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS   2
#define PARTS     4
#define TURN_SECS 0.04

static int zero;

static double thread_secs(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) void in_read(void)
{
	static __thread char bytes[1 << 16];

	for (int i = 0; i < 40; i++)
		if (read(zero, bytes, sizeof bytes) < 0)
			return;
}

__attribute__((noinline)) void in_random(void)
{
	static __thread char bytes[1 << 12];

	for (int i = 0; i < 10; i++)
		if (getrandom(bytes, sizeof bytes, 0) < 0)
			return;
}

__attribute__((noinline)) void in_faults(void)
{
	char *pages =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 1 << 20; i += 4096)
		pages[i] = 1;
	munmap(pages, 1 << 20);
}

__attribute__((noinline)) void in_user(void)
{
	volatile unsigned long sum = 1;

	for (int i = 0; i < 50000; i++)
		sum = sum * 3 + 1;
}

static const struct {
	void (*work)(void);
	double share;
} parts[PARTS] = { { in_read, .2 }, { in_random, .3 }, { in_faults, .2 }, { in_user, .3 } };

static int turns;

static void *run(void *argument)
{
	double *spent = argument;

	for (int turn = 0; turn < turns; turn++) {
		for (int part = 0; part < PARTS; part++) {
			const double begin = thread_secs();
			double secs;

			do
				parts[part].work();
			while ((secs = thread_secs() - begin) < parts[part].share * TURN_SECS);
			spent[part] += secs;
		}
	}
	return NULL;
}

/* A fork of much memory takes longer than a tick: it is to come to its end all the same. */
static int fork_much(void)
{
	const size_t size = 256 << 20;
	char *pages = malloc(size);
	int status = 1;

	if (pages == NULL)
		return 1;
	memset(pages, 1, size);
	for (int i = 0; i < 10; i++) {
		const pid_t child = fork();

		if (child == 0)
			_exit(0);
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
			return 1;
	}
	free(pages);
	return 0;
}

static int timers_left(void)
{
	char line[256];
	int count = 0;
	FILE *file = fopen("/proc/self/timers", "r");

	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		count += strncmp(line, "ID:", 3) == 0;
	if (file != NULL)
		fclose(file);
	return count;
}

/* TURNS [THREADS] [fork] */
int main(int argc, char **argv)
{
	const int generations = argc > 2 ? atoi(argv[2]) : 1;
	double spent[THREADS][PARTS] = { { 0 } };

	turns = argc > 1 ? atoi(argv[1]) : 50;
	zero = open("/dev/zero", O_RDONLY);
	for (int i = 0; i < generations; i++) {
		pthread_t other;

		pthread_create(&other, NULL, run, spent[1]);
		run(spent[0]);
		pthread_join(other, NULL);
	}
	if (argc > 3 && fork_much() != 0)
		return 1;
	printf("{\"timers\": %d, \"in_read\": %.6f, \"in_random\": %.6f, \"in_faults\": %.6f, "
	       "\"in_user\": %.6f}\n",
	       timers_left(), spent[0][0] + spent[1][0], spent[0][1] + spent[1][1],
	       spent[0][2] + spent[1][2], spent[0][3] + spent[1][3]);
	return 0;
}
