/*
 * steered - computes until a file is there: steered FILE [BREEDERS [system]].
 *
 * It says its pid first, and calls mark() after every 50 ms of its main thread's CPU time: a
 * place for a breakpoint.  A breeder is a thread that makes one thread after the other, each of
 * which computes for 2 ms.  "system": the main thread spends most of its time in system calls.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "truth.h"

#define MARK_EVERY_NS  50000000
#define CHILD_NS       2000000
#define MAX_BREEDERS   8
#define TURNS_OF_CHILD 20000

static volatile uint64_t sink;
static int zero = -1;
static atomic_bool is_over;

KEEP static void turn(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sink = sink * 6364136223846793005u + 1442695040888963407u;
}

KEEP static void mark(uint64_t cpu_ns)
{
	sink = cpu_ns;
}

/* Nothing where no file is open. */
KEEP static void read_zeros(void)
{
	static char bytes[1 << 16];

	for (int i = 0; i < 100 && read(zero, bytes, sizeof bytes) > 0; i++)
		;
}

static void *child(void *argument)
{
	(void)argument;
	while (truth_thread_cpu_ns() < CHILD_NS)
		turn(TURNS_OF_CHILD);
	return NULL;
}

static void *breed(void *argument)
{
	pthread_t thread;

	(void)argument;
	while (!is_over && pthread_create(&thread, NULL, child, NULL) == 0)
		pthread_join(thread, NULL);
	return NULL;
}

static void compute_until(const char *file)
{
	uint64_t marked_ns = truth_thread_cpu_ns();

	while (access(file, F_OK) < 0) {
		turn(100000);
		read_zeros();
		const uint64_t now_ns = truth_thread_cpu_ns();

		if (now_ns - marked_ns < MARK_EVERY_NS)
			continue;
		mark(truth_process_cpu_ns());
		marked_ns = now_ns;
	}
}

int main(int argc, char **argv)
{
	const int breeders = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t threads[MAX_BREEDERS];

	if (argc < 2 || breeders > MAX_BREEDERS)
		return 2;
	if (argc > 3)
		zero = open("/dev/zero", O_RDONLY);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (int i = 0; i < breeders; i++)
		pthread_create(&threads[i], NULL, breed, NULL);
	compute_until(argv[1]);
	is_over = true;
	for (int i = 0; i < breeders; i++)
		pthread_join(threads[i], NULL);
	truth_print();
	return 7;
}
