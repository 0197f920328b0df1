/* Regions of a program that knows how long it was in each (CPU time, in ms). */
#include <fathom.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

NOINLINE static void burn(double milliseconds)
{
	const double end = now() + milliseconds;

	while (now() < end) {
		for (int i = 0; i < 20000; i++)
			sink++;
	}
}

NOINLINE static void entering(void)
{
	burn(30);
	fathom_region_begin("load");
	burn(30);
	fathom_region_begin("inner");
	burn(30);
	fathom_region_end("inner");
	fathom_region_end("load");
	burn(30);
}

/* What is executed in the region is the function's own code. */
NOINLINE static double by_itself(void)
{
	fathom_region_begin("own");
	const double begin = now();

	for (int i = 0; i < 100000000; i++)
		sink++;
	const double milliseconds = now() - begin;

	fathom_region_end("own");
	return milliseconds;
}

/* The second one ends later than the first. */
NOINLINE static void overlapping(void)
{
	fathom_region_begin("first");
	burn(20);
	fathom_region_begin("second");
	burn(20);
	fathom_region_end("first");
	burn(20);
	fathom_region_end(NULL);
	burn(20);
}

static void *thread(void *nothing)
{
	fathom_region_begin("thread");
	burn(30);
	fathom_region_end("thread");
	burn(30);
	return nothing;
}

NOINLINE static void deeper(int depth)
{
	fathom_region_begin("deep");
	if (depth > 0)
		deeper(depth - 1);
	else
		burn(20);
	fathom_region_end("deep");
}

int main(void)
{
	pthread_t other;
	const int is_running = fathom_is_running();

	entering();
	const double own = by_itself();

	overlapping();
	pthread_create(&other, NULL, thread, NULL);
	thread(NULL);
	pthread_join(other, NULL);
	deeper(50);
	fathom_region_end("never begun");
	fathom_pause();
	burn(50);
	fathom_resume();
	printf("{\"regions\": {\"load\": 60, \"inner\": 30, \"own\": %.1f, \"first\": 40, "
	       "\"second\": 40, \"thread\": 60, \"deep\": 20}, \"paused\": 50, "
	       "\"is_running\": %s}\n",
	       own, is_running ? "true" : "false");
	return 0;
}
