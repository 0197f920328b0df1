/*
 * coverage - how often a stated 95 % interval holds the truth, on simulated programs.
 *
 * Built by `ninja tests/unit/profile/sampled_coverage`.  A program is in a function f or not, by the rule
 * of its kind; a sampler looks at it for so long, by a period 1 to 5 % off a millisecond, another
 * in each run, as perf_choose_period() draws them.  Printed is, by
 * the phases' length, how many of a thousand intervals hold f's share of this run, how many hold
 * the program's known share, and half the mean width in percentage points.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "uniform.h"
#include "profile/repetition.h"
#include "profile/statistics.h"

enum { RUNS = 1000 };
#define ROUND 1e-3
#define SHARE 0.3

enum kind { RANDOM, REGULAR, START_UP, KINDS };

static const char *const names[KINDS] = {
	[RANDOM] = "phases of random length",
	[REGULAR] = "phases of one length, within 1 %",
	[START_UP] = "20 % start-up, then random",
};

struct tally {
	unsigned int of_run, of_program;
	double width;
};

static double draw_period(void)
{
	const double off = 0.01 + 0.04 * uniform();

	return uniform() < 0.5 ? ROUND * (1 + off) : ROUND * (1 - off);
}

/* phase is f's and the rest's mean together. */
static double length_of(enum kind kind, double phase, bool is_in)
{
	const double mean = phase * (is_in ? SHARE : 1 - SHARE);

	return kind == REGULAR ? mean * (0.99 + 0.02 * uniform()) : -log(1 - uniform()) * mean;
}

static void run(enum kind kind, double phase, double seconds, struct tally *tally)
{
	const double period = draw_period();
	const size_t samples = (size_t)(seconds / period);
	const double known = kind == START_UP ? 0.8 * SHARE : SHARE;
	float part[REPETITION_SLOTS] = { 0 }, whole[REPETITION_SLOTS] = { 0 };
	double truth = 0, at = 0, next = uniform() * period, hits = 0;
	bool is_in = kind != START_UP && uniform() < SHARE;
	double end = kind == START_UP ? 0.2 * seconds
				      : length_of(kind, phase, is_in) *
						(kind == REGULAR ? uniform() : 1);
	size_t i = 0;

	while (at < seconds) {
		end = end < seconds ? end : seconds;
		truth += is_in ? end - at : 0;
		for (; i < samples && next < end; next += period, i++) {
			whole[i * REPETITION_SLOTS / samples] += 1;
			part[i * REPETITION_SLOTS / samples] += is_in;
			hits += is_in;
		}
		at = end;
		is_in = !is_in;
		end = at + length_of(kind, phase, is_in);
	}
	const double repetition = repetition_of(part, whole, REPETITION_SLOTS, 1);
	const struct range range = statistics_share(hits / repetition, (double)i / repetition);

	truth /= seconds;
	tally->of_run += range.low <= truth && truth <= range.high;
	tally->of_program += range.low <= known && known <= range.high;
	tally->width += 100 * (range.high - range.low) / 2;
}

int main(void)
{
	static const double phases[] = { 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1 };
	static const double lengths[] = { 2, 8, 32 };

	printf("holds this run's share / the program's, %% of %d; half the width\n", RUNS);
	for (int kind = 0; kind < KINDS; kind++) {
		printf("\n%s\n%8s", names[kind], "");
		for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
			printf("  %11.1f ms", phases[i] * 1e3);
		for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++) {
			printf("\n%6.0f s", lengths[j]);
			for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
				struct tally tally = { 0 };

				for (int n = 0; n < RUNS; n++)
					run((enum kind)kind, phases[i], lengths[j], &tally);
				printf("  %3.0f/%3.0f ±%4.1f", 100.0 * tally.of_run / RUNS,
				       100.0 * tally.of_program / RUNS, tally.width / RUNS);
			}
		}
		printf("\n");
	}
	return 0;
}
