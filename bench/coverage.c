/*
 * coverage - how often a stated 95 % interval holds the truth, on simulated recordings.
 *
 * Built by `ninja tests/unit/profile/sampled_coverage`.  A program is in a function f or not, by the
 * rule of its kind; a sampler looks at it for so long, with a period 1 to 5 % off a millisecond,
 * another one in each run, as perf_choose_period() draws them.  Printed is, by the phases' mean
 * length, how many per cent of the intervals hold the program's known share, and half their mean
 * width in percentage points.  Runs in which f came in one stretch, of which the report says `once`,
 * are counted apart (`once 20 %`): their interval is of the run, and is to hold the run's share.
 * Runs in which no sample, or each one, was of f have no interval.
 *
 * With files of phases' lengths as arguments (bench/coverage_recorded.py --timelines) the program is
 * a piece of a recorded one, and its known share that of the whole file.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uniform.h"
#include "profile/autocorrelation.h"
#include "profile/change_points.h"
#include "profile/statistics.h"
#include "profile/thread_turns.h"

enum { RUNS = 1000, THREADS = 4, TURN_SLOTS = SERIES_SLOTS / THREADS };
#define ROUND 1e-3
/* What is shorter cannot be known from a burst's own phases, of 1 ms on average. */
#define PAUSE_LEAST 5e-3
/*
 * Chance keeps f away for as long within a burst in one of twenty recordings of 0.4 s: of two bursts
 * with a shorter pause between them it cannot be known that they are two.
 */
#define ONE_PAUSE_LEAST 14e-3
#define SHARE           0.3

enum kind { RANDOM, UNEVEN, BURSTS, START_UP, FOUR_THREADS, BUDGET, REGULAR, KINDS };

static const char *const names[KINDS] = {
	[RANDOM] = "random",
	[UNEVEN] = "uneven",
	[BURSTS] = "bursts",
	[START_UP] = "start-up, then random",
	[FOUR_THREADS] = "random, 4 threads",
	[BUDGET] = "random, changing period",
	[REGULAR] = "regular",
};

/* One run as the report sees it. */
struct run {
	float part[SERIES_SLOTS], whole[SERIES_SLOTS];
	float part_in_turn[SERIES_SLOTS], whole_in_turn[SERIES_SLOTS]; /* of THREADS */
	size_t threads;
	double hits, all, squares; /* weights of samples: of f, of all, and f's squared */
	double samples;            /* of f */
	double truth, known;       /* f's share of the run, and of the program */
};

struct tally {
	unsigned int held, of_run, counted, once, once_held, certain;
	double width, off;
};

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

static double draw_period(void)
{
	const double off = 0.01 + 0.04 * uniform();

	return uniform() < 0.5 ? ROUND * (1 + off) : ROUND * (1 - off);
}

static double draw_length(enum kind kind, double mean)
{
	const double log_variance = log(1 + 4); /* standard deviation of twice the mean */

	if (kind == REGULAR)
		return mean * (0.99 + 0.02 * uniform());
	if (kind == UNEVEN)
		return mean * exp(sqrt(log_variance) * normal() - log_variance / 2);
	return -log(1 - uniform()) * mean;
}

struct sampler {
	struct run *run;
	double seconds, period, next;
	double step; /* of the budget's: so many periods, changed now and then */
	bool is_budget;
	size_t thread;
};

static void look(struct sampler *sampler, double until, bool is_in)
{
	for (; sampler->next < until; sampler->next += sampler->period * sampler->step) {
		const size_t slot = (size_t)(sampler->next / sampler->seconds * SERIES_SLOTS) %
				    SERIES_SLOTS;
		const size_t turn =
			sampler->thread * TURN_SLOTS + slot * TURN_SLOTS / SERIES_SLOTS;
		const float weight = (float)sampler->step;

		sampler->run->whole[slot] += weight;
		sampler->run->whole_in_turn[turn] += weight;
		sampler->run->all += sampler->step;
		if (is_in) {
			sampler->run->part[slot] += weight;
			sampler->run->part_in_turn[turn] += weight;
			sampler->run->hits += sampler->step;
			sampler->run->squares += sampler->step * sampler->step;
			sampler->run->samples++;
		}
		if (sampler->is_budget && uniform() < 0.01)
			sampler->step = (double)(1 << (int)(4 * uniform()));
	}
}

/* Whether f comes next, for how long, and what follows: a burst is of 1 ms phases. */
struct program {
	enum kind kind;
	double phase; /* of f and the rest together, on average; BURSTS: of a burst and a pause */
	bool is_in, is_burst;
	double burst_left;
	unsigned int bursts; /* that were looked at, and for how long */
	double burst_seconds;
	double burst_end, pause; /* of the last one, and before it */
};

static double next_of_bursts(struct program *program)
{
	if (program->burst_left <= 0) {
		program->is_burst = !program->is_burst;
		program->burst_left = draw_length(
			RANDOM,
			program->phase * (program->is_burst ? 2 * SHARE : 1 - 2 * SHARE));
		program->is_in = program->is_burst && uniform() < 0.5;
	} else
		program->is_in = program->is_burst && !program->is_in;
	const double length = program->is_burst ? draw_length(RANDOM, 1e-3) : HUGE_VAL;
	const double part = length < program->burst_left ? length : program->burst_left;

	program->burst_left -= length;
	return part;
}

static double next_phase(struct program *program)
{
	if (program->kind == BURSTS)
		return next_of_bursts(program);
	program->is_in = !program->is_in;
	return draw_length(program->kind,
			   program->phase * (program->is_in ? SHARE : 1 - SHARE));
}

static void run_thread(struct program *program, struct sampler *sampler)
{
	const double start_up = program->kind == START_UP ? 0.2 * sampler->seconds : 0;
	/* What went on before it was looked at. */
	double at = start_up > 0 ? 0 : -20 * program->phase * uniform();
	double end = start_up > 0 ? start_up : at + next_phase(program);
	bool was_burst = false;

	while (at < sampler->seconds) {
		const double from = at > 0 ? at : 0;

		end = end < sampler->seconds ? end : sampler->seconds;
		if (end > from) {
			sampler->run->truth += program->is_in ? end - from : 0;
			look(sampler, end, program->is_in);
			const bool is_burst = program->is_burst || (program->kind == BURSTS &&
								    end - from < PAUSE_LEAST);

			if (is_burst && !was_burst) {
				program->bursts++;
				program->pause = from - program->burst_end;
			}
			program->burst_end = program->is_burst ? end : program->burst_end;
			program->burst_seconds += program->is_burst ? end - from : 0;
			was_burst = is_burst;
		}
		at = end;
		end = at + next_phase(program);
	}
	/* How long f's only part lasts is taken from the run, as that of start-up is. */
	if (program->bursts == 1 || (program->bursts == 2 && program->pause < ONE_PAUSE_LEAST))
		sampler->run->known = program->burst_seconds / 2 / sampler->seconds;
}

static void simulate(enum kind kind, double phase, double seconds, struct run *run)
{
	const double period = draw_period();
	const int threads = kind == FOUR_THREADS ? THREADS : 1;

	*run = (struct run){ .threads = (size_t)threads,
			     .known = kind == START_UP ? 0.8 * SHARE : SHARE };
	for (int i = 0; i < threads; i++) {
		struct program program = {
			.kind = kind,
			.phase = phase,
			.is_in = kind != START_UP && uniform() < SHARE,
			.is_burst = kind == BURSTS && uniform() < 0.5,
		};
		struct sampler sampler = {
			.run = run,
			.seconds = seconds,
			.period = period,
			.next = uniform() * period,
			.step = 1,
			.is_budget = kind == BUDGET,
			.thread = (size_t)i,
		};

		run_thread(&program, &sampler);
	}
	run->truth /= seconds * threads;
}

static void judge(const struct run *run, struct tally *tally)
{
	if (run->hits <= 0 || run->hits >= run->all) {
		tally->certain++;
		return;
	}
	const double weight = run->squares / run->hits;
	struct row_series series = {
		.part = run->part,
		.whole = run->whole,
		.count = SERIES_SLOTS,
		.weight = weight,
	};
	const struct thread_turns turns = {
		.part = run->part_in_turn,
		.whole = run->whole_in_turn,
		/* The first one is the main thread. */
		.groups = (const uint32_t[THREADS]){ 0, 1, 1, 1 },
		.threads = run->threads,
		.turn_slots = TURN_SLOTS,
	};
	const struct autocorrelation found = thread_turns_autocorrelation(&series, &turns);
	const double one = weight * found.inflation;
	const struct range range = statistics_share(run->hits / one, run->all / one);
	const bool holds_run = range.low <= run->truth && run->truth <= range.high;

	if (found.phases == 1) {
		tally->once++;
		tally->once_held += holds_run;
		return;
	}
	tally->counted++;
	tally->held += range.low <= run->known && run->known <= range.high;
	tally->of_run += holds_run;
	tally->width += 100 * (range.high - range.low) / 2;
	tally->off += 1e4 * pow(run->hits / run->all - run->known, 2);
}

static void print_tally(const struct tally *tally)
{
	if (tally->counted * 50 < RUNS)
		printf(" | once %2.0f %%", 100.0 * tally->once / RUNS);
	else
		printf(" | %3.0f ±%4.1f", 100.0 * tally->held / tally->counted,
		       tally->width / tally->counted);
	if (tally->counted * 50 >= RUNS && tally->once * 100 > RUNS)
		printf(", once %2.0f %%", 100.0 * tally->once / RUNS);
}

static void print_kinds(void)
{
	static const double phases[] = { 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1 };
	static const double lengths[] = { 0.4, 2, 8 };
	struct tally all = { 0 };

	for (int kind = 0; kind < KINDS; kind++)
		for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++) {
			printf("| %-22s | %.1f s", names[kind], lengths[j]);
			for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
				struct tally tally = { 0 };

				for (int n = 0; n < RUNS; n++) {
					struct run run;

					simulate((enum kind)kind, phases[i], lengths[j], &run);
					judge(&run, &tally);
				}
				print_tally(&tally);
				all.once += tally.once;
				all.once_held += tally.once_held;
				all.counted += tally.counted;
				all.of_run += tally.of_run;
			}
			printf(" |\n");
		}
	printf("\nthis run's share is held by %.1f %% of the intervals, and by %.1f %% of "
	       "those "
	       "of one stretch\n",
	       100.0 * all.of_run / all.counted, 100.0 * all.once_held / all.once);
}

/* Turns of f and the rest, as long as so many round periods. */
static void print_in_step(void)
{
	static const double turns[] = { 0.5, 0.75, 0.97, 1, 1.03, 1.5, 2, 2.06, 3, 10.3 };
	static const double lengths[] = { 0.4, 2, 8 };

	printf("\nin step\n");
	for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++) {
		printf("| %.1f s", lengths[j]);
		for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
			struct tally tally = { 0 };

			for (int n = 0; n < RUNS; n++) {
				struct run run;

				simulate(REGULAR, turns[i] * ROUND, lengths[j], &run);
				judge(&run, &tally);
			}
			print_tally(&tally);
			printf(" (%.1f)", 1.96 * sqrt(tally.off / tally.counted));
		}
		printf(" |\n");
	}
}

/* Rows by how often they were sampled, of programs whose functions' shares fall off as 1 / rank. */
static void print_rare(void)
{
	enum { GROUPS = 8 };
	static const struct {
		unsigned int functions, samples;
	} programs[] = { { 300, 400 }, { 300, 2000 }, { 3000, 400 }, { 3000, 2000 } };

	printf("\nby samples: 0, 1, 2, 3, 4, 5, 6 to 19, more\n");
	for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
		unsigned int rows[GROUPS] = { 0 }, held[GROUPS] = { 0 };
		const unsigned int functions = programs[p].functions;
		const double samples = programs[p].samples;
		double sum = 0;

		for (unsigned int i = 1; i <= functions; i++)
			sum += 1.0 / i;
		for (unsigned int n = 0; n < 200; n++) {
			unsigned int *hits = calloc(functions, sizeof *hits);

			for (unsigned int i = 0; i < programs[p].samples; i++) {
				double left = uniform() * sum;
				unsigned int function = 0;

				while (function + 1 < functions &&
				       (left -= 1.0 / (function + 1)) > 0)
					function++;
				hits[function]++;
			}
			for (unsigned int i = 0; i < functions; i++) {
				const struct range range = statistics_share(hits[i], samples);
				const double known = 1.0 / (i + 1) / sum;
				const size_t group = hits[i] < 6    ? hits[i]
						     : hits[i] < 20 ? 6
								    : 7;

				rows[group]++;
				held[group] += range.low <= known && known <= range.high;
			}
			free(hits);
		}
		printf("| %u functions, %.0f samples", functions, samples);
		for (int i = 0; i < GROUPS; i++)
			printf(" | %3.1f", 100.0 * held[i] / rows[i]);
		printf(" |\n");
	}
}

/* Lengths in seconds, of f and of the rest in turn. */
static size_t read_phases(const char *path, double *lengths, size_t most)
{
	FILE *file = fopen(path, "re");
	size_t count = 0;

	while (file && count < most && fscanf(file, "%lf", &lengths[count]) == 1)
		count++;
	if (file)
		fclose(file);
	return count;
}

/* A piece of the file, from anywhere in it. */
static void replay(const double *lengths, size_t count, double sum, double seconds,
		   struct run *run)
{
	struct sampler sampler = { .run = run, .seconds = seconds, .step = 1 };
	double at = -uniform() * (sum - seconds);

	*run = (struct run){ 0 };
	sampler.period = draw_period();
	sampler.next = uniform() * sampler.period;
	for (size_t i = 0; i < count && at < seconds; i++) {
		const double end = at + lengths[i] < seconds ? at + lengths[i] : seconds;

		if (end > 0) {
			run->truth += i % 2 == 0 ? end - (at > 0 ? at : 0) : 0;
			look(&sampler, end, i % 2 == 0);
		}
		at = end;
	}
	run->truth /= seconds;
}

static void print_recorded(const char *path)
{
	enum { MOST = 4000000 };
	static const double seconds[] = { 0.4, 2 };
	double *lengths = calloc(MOST, sizeof *lengths);
	const size_t count = read_phases(path, lengths, MOST);
	double sums[2] = { 0 };

	for (size_t i = 0; i < count; i++)
		sums[i % 2] += lengths[i];
	printf("| %-40s", path);
	for (size_t j = 0; j < 2; j++) {
		struct tally tally = { 0 };

		for (int n = 0; n < RUNS; n++) {
			struct run run;

			replay(lengths, count, sums[0] + sums[1], seconds[j], &run);
			run.known = sums[0] / (sums[0] + sums[1]);
			judge(&run, &tally);
		}
		print_tally(&tally);
	}
	printf(" |\n");
	free(lengths);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		print_recorded(argv[i]);
	if (argc > 1)
		return 0;
	print_kinds();
	print_in_step();
	print_rare();
	return 0;
}
