#include "doctor/work.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* Exported in the dynamic symbol table, so that a stripped fathom has these names as well. */
#define WORK __attribute__((noinline, visibility("default"), used))

/* Steps of a function that take about 100 us. */
#define STEPS 25000U

WORK uint64_t doctor_work_mix(uint64_t seed, unsigned steps);
WORK uint64_t doctor_work_divide(uint64_t seed, unsigned steps);
WORK uint64_t doctor_work_chase(uint64_t seed, unsigned steps);

uint64_t doctor_work_mix(uint64_t seed, unsigned steps)
{
	for (unsigned i = 0; i < 4 * steps; i++)
		seed = (seed ^ seed >> 29) * 0xbf58476d1ce4e5b9ULL;
	return seed;
}

uint64_t doctor_work_divide(uint64_t seed, unsigned steps)
{
	for (unsigned i = 0; i < steps / 2; i++)
		seed = seed * 6364136223846793005ULL / (seed >> 40 | 1) + i;
	return seed;
}

uint64_t doctor_work_chase(uint64_t seed, unsigned steps)
{
	static uint32_t next[4096];
	uint32_t place = (uint32_t)seed % 4096;

	for (unsigned i = 0; next[1] == 0 && i < 4096; i++)
		next[i] = (i * 1237 + 611) % 4096;
	for (unsigned i = 0; i < 4 * steps; i++)
		place = next[place];
	return seed + place;
}

typedef uint64_t work_function(uint64_t seed, unsigned steps);

static const struct {
	const char *name;
	work_function *function;
} functions[WORK_FUNCTIONS] = {
	{ "doctor_work_mix", doctor_work_mix },
	{ "doctor_work_divide", doctor_work_divide },
	{ "doctor_work_chase", doctor_work_chase },
};

const char *work_function_name(unsigned i)
{
	return functions[i].name;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void work_run(unsigned rounds, struct work_times *out_times)
{
	static volatile uint64_t result;
	uint64_t seed = 88172645463325252ULL;

	*out_times = (struct work_times){ 0 };
	for (unsigned round = 0; round < rounds; round++) {
		const unsigned i =
			round * 7 % 6; /* a sixth, a third and a half of the rounds */
		const unsigned which = i == 0 ? 0 : i < 3 ? 1 : 2;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		const unsigned steps = STEPS * (4 + (unsigned)(seed >> 61) * 2);
		const uint64_t begin = cpu_ns();

		result = functions[which].function(seed, steps);
		out_times->ns[which] += cpu_ns() - begin;
	}
	(void)result;
}

void work_format(const struct work_times *times, char *out_line, unsigned size)
{
	snprintf(out_line, size, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", times->ns[0],
		 times->ns[1], times->ns[2]);
}

bool work_parse(const char *line, struct work_times *out_times)
{
	return sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &out_times->ns[0],
		      &out_times->ns[1], &out_times->ns[2]) == WORK_FUNCTIONS;
}
