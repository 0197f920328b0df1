/* Regions of a program that knows how long it was in each (CPU time, in ms). */
#include <fathom.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

/* How long it was in each, of what burn() says: a machine that stands still makes that longer. */
static double load, inner, first, second, in_thread[2], deep;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Says how long it was. */
NOINLINE static double burn(double milliseconds)
{
	const double begin = now();

	while (now() < begin + milliseconds) {
		for (int i = 0; i < 20000; i++)
			sink++;
	}
	return now() - begin;
}

NOINLINE static void entering(void)
{
	burn(30);
	fathom_region_begin("load");
	load = burn(30);
	fathom_region_begin("inner");
	inner = burn(30);
	load += inner;
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
	first = burn(20);
	fathom_region_begin("second");
	second = burn(20);
	first += second;
	fathom_region_end("first");
	second += burn(20);
	fathom_region_end(NULL);
	burn(20);
}

static void *thread(void *milliseconds)
{
	fathom_region_begin("thread");
	*(double *)milliseconds = burn(30);
	fathom_region_end("thread");
	burn(30);
	return NULL;
}

NOINLINE static void deeper(int depth)
{
	fathom_region_begin("deep");
	if (depth > 0)
		deeper(depth - 1);
	else
		deep = burn(20);
	fathom_region_end("deep");
}

int main(void)
{
	pthread_t other;
	const int is_running = fathom_is_running();

	entering();
	const double own = by_itself();

	overlapping();
	pthread_create(&other, NULL, thread, &in_thread[1]);
	thread(&in_thread[0]);
	pthread_join(other, NULL);
	deeper(50);
	fathom_region_end("never begun");
	fathom_pause();
	const double paused = burn(50);

	fathom_resume();
	printf("{\"regions\": {\"load\": %.1f, \"inner\": %.1f, \"own\": %.1f, \"first\": "
	       "%.1f, "
	       "\"second\": %.1f, \"thread\": %.1f, \"deep\": %.1f}, \"paused\": %.1f, "
	       "\"is_running\": %s}\n",
	       load, inner, own, first, second, in_thread[0] + in_thread[1], deep, paused,
	       is_running ? "true" : "false");
	return 0;
}
