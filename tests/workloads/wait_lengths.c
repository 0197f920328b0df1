/*
 * wait_lengths - a thread for each length of wait, which sleeps for so long, again and again.
 *
 * usage: wait_lengths SECONDS MICROSECONDS...
 *
 * Prints what is true: for each thread its name, which is the length, how often it waited, how long
 * its calls took by CLOCK_MONOTONIC, how long it neither ran nor was runnable in them; and how many
 * gave EINTR.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "meter.h"

#define MOST 16

struct length {
	const char *name;
	uint64_t ns;
	uint64_t waits, call_ns, waited_ns;
	pthread_t thread;
};

static struct length lengths[MOST];
static uint64_t until_ns;
static unsigned int interrupted;

static void *sleeps(void *argument)
{
	struct length *length = argument;
	const struct timespec time = { (time_t)(length->ns / 1000000000),
				       (long)(length->ns % 1000000000) };
	struct meter meter = meter_open();

	prctl(PR_SET_NAME, length->name);
	prctl(PR_SET_TIMERSLACK, 1UL);
	while (clock_ns(CLOCK_MONOTONIC) < until_ns) {
		meter_begin(&meter);
		if (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == EINTR)
			__atomic_add_fetch(&interrupted, 1, __ATOMIC_RELAXED);
		length->call_ns += clock_ns(CLOCK_MONOTONIC) - meter.wall_ns;
		length->waited_ns += meter_waited_ns(&meter);
		length->waits++;
	}
	close(meter.sched_fd);
	return NULL;
}

int main(int argc, char **argv)
{
	const int count = argc - 2;

	if (count < 1 || count > MOST)
		return 2;
	until_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[1]) * 1e9);
	for (int i = 0; i < count; i++) {
		lengths[i] = (struct length){ .name = argv[i + 2],
					      .ns = strtoull(argv[i + 2], NULL, 10) * 1000 };
		pthread_create(&lengths[i].thread, NULL, sleeps, &lengths[i]);
	}
	for (int i = 0; i < count; i++)
		pthread_join(lengths[i].thread, NULL);
	printf("{\"interrupted\": %u, \"threads\": {", interrupted);
	for (int i = 0; i < count; i++)
		printf("%s\"%s\": {\"waits\": %llu, \"call_ns\": %llu, \"waited_ns\": %llu}",
		       i > 0 ? ", " : "", lengths[i].name, (unsigned long long)lengths[i].waits,
		       (unsigned long long)lengths[i].call_ns,
		       (unsigned long long)lengths[i].waited_ns);
	printf("}}\n");
	return 0;
}
