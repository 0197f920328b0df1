/*
 * diff_power - how often fathom diff calls the same program changed, and how often it finds a
 * function that became slower.
 *
 * Built by `ninja tests/unit/profile/diff_power`.  A program of 300 functions runs for two seconds,
 * ten times a side, sampled at a rate; the times of a run and of each function in it differ by a
 * few per cent without a cause.  Beside it stands what a rule finds that many use with tools that
 * subtract: a function whose mean differs by more than 5 %.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "uniform.h"
#include "profile/compare.h"
#include "profile/profile.h"

enum { FUNCTIONS = 300, RUNS = 10, COMPARISONS = 400, CHANGES = 4, SECONDS = 2 };

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

static uint64_t poisson(double mean)
{
	const double sum = mean + sqrt(mean) * normal();
	const double least = exp(-mean);
	uint64_t count = 0;

	if (mean > 50)
		return sum > 0 ? (uint64_t)(sum + 0.5) : 0;
	for (double product = uniform(); product > least; product *= uniform())
		count++;
	return count;
}

struct setting {
	double rate, run_noise, function_noise;
	double share;   /* of the function that changes */
	double slower;  /* by how much */
	bool is_uneven; /* functions' noise differs from one to the other */
};

/* The others have shares that fall off as 1 / rank. */
static double share_of(const struct setting *setting, unsigned int function)
{
	static double sum;

	if (sum == 0)
		for (unsigned int i = 1; i < FUNCTIONS; i++)
			sum += 1.0 / i;
	return function == 0 ? setting->share : (1 - setting->share) / function / sum;
}

/* The same one in each run and each comparison. */
static double noise_of(const struct setting *setting, unsigned int function)
{
	static double factors[FUNCTIONS];

	if (factors[function] == 0)
		factors[function] = exp(normal() - 0.5);
	return setting->function_noise *
	       (setting->is_uneven && function > 0 ? factors[function] : 1);
}

static struct profile *run(const struct setting *setting, bool is_after)
{
	struct profile *profile = profile_new();
	const struct process_id process =
		profile_add_process(profile, &(struct process){ .pid = 1, .name = "p" });
	const struct thread_id thread = profile_add_thread(
		profile, &(struct thread){ .process = process, .tid = 1, .name = "p" });
	const double speed = exp(setting->run_noise * normal());
	const uint64_t period = (uint64_t)(1e9 / setting->rate);

	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		char name[16];

		snprintf(name, sizeof name, "f%u", i);
		const struct function_id function =
			profile_add_function(profile, &(struct function){ .name = name });
		const struct frame_id frame =
			profile_add_frame(profile, &(struct frame){ .function = function });
		const double seconds = SECONDS * speed * share_of(setting, i) *
				       exp(noise_of(setting, i) * normal()) *
				       (i == 0 && is_after ? 1 + setting->slower : 1);
		const uint64_t samples = poisson(seconds * setting->rate);

		if (samples > 0)
			profile_add_weight(
				profile,
				&(struct weight){
					.stack = profile_add_stack(
						profile, (struct stack_id){ 0 }, frame),
					.thread = thread,
					.ns = samples * period,
					.samples = samples });
	}
	return profile;
}

struct found {
	unsigned int false_alarms, right, false_by_rule, right_by_rule; /* comparisons */
};

static void compare(const struct setting *setting, struct found *found)
{
	struct profile *profiles[2][RUNS];
	struct comparison comparison;
	bool has_false = false, has_false_by_rule = false;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < RUNS; i++)
			profiles[side][i] = run(setting, side == 1);
	comparison_make(&(struct compare_terms){ .profiles = { profiles[0], profiles[1] },
						 .counts = { RUNS, RUNS },
						 .margin = 0.05 },
			&comparison);
	for (size_t i = 0; i < comparison.count; i++) {
		const struct compared *row = &comparison.rows[i];
		const bool is_planted = strcmp(row->name, "f0") == 0 && setting->slower > 0;
		const bool is_called = row->self.verdict != VERDICT_CANNOT_TELL &&
				       row->self.verdict != VERDICT_UNCHANGED;
		const bool is_called_by_rule = fabs(change_share(&row->self)) > 0.05;

		if (is_planted) {
			found->right += row->self.verdict == VERDICT_SLOWER;
			found->right_by_rule += is_called_by_rule;
		} else {
			has_false |= is_called;
			has_false_by_rule |= is_called_by_rule;
		}
	}
	found->false_alarms += has_false;
	found->false_by_rule += has_false_by_rule;
	comparison_done(&comparison);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < RUNS; i++)
			profile_free(profiles[side][i]);
}

/*
 * How often the planted change would be found by a test of that function alone, at 5 %, that knows
 * how fast the machine was in each run, how much the function's runs differ and how few samples
 * vary: no test of several functions finds more.
 */
static double most_to_be_found(const struct setting *setting)
{
	const double samples = SECONDS * setting->rate * setting->share;
	const double of_run = 1 / samples + pow(setting->function_noise, 2);
	const double errors = setting->slower / sqrt(2 * of_run / RUNS);

	return 50 * (erfc((1.96 - errors) / sqrt(2)) + erfc((1.96 + errors) / sqrt(2)));
}

static void print_setting(struct setting setting)
{
	static const double changes[CHANGES] = { 0, 0.05, 0.1, 0.2 };
	struct found found[CHANGES] = { 0 };

	for (int at = 0; at < CHANGES; at++) {
		setting.slower = changes[at];
		for (int i = 0; i < COMPARISONS; i++)
			compare(&setting, &found[at]);
	}
	printf("| %.0f + %.0f %%%s | %.0f Hz | %.0f %% |", 100 * setting.run_noise,
	       100 * setting.function_noise, setting.is_uneven ? ", uneven" : "", setting.rate,
	       100 * setting.share);
	for (int at = 0; at < CHANGES; at++)
		printf(" %.1f", 100.0 * found[at].false_alarms / COMPARISONS);
	for (int at = 1; at < CHANGES; at++) {
		setting.slower = changes[at];
		printf(" | %.0f (%.0f), rule %.0f", 100.0 * found[at].right / COMPARISONS,
		       most_to_be_found(&setting),
		       100.0 * found[at].right_by_rule / COMPARISONS);
	}
	printf(" | %.0f |\n", 100.0 * found[0].false_by_rule / COMPARISONS);
	fflush(stdout);
}

int main(void)
{
	static const double rates[] = { 1000, 4000, 10000 }, shares[] = { 0.05, 0.2 };
	static const double noises[][2] = {
		{ 0.02, 0.02 }, { 0.05, 0.02 }, { 0.01, 0.01 }, { 0.02, 0.02 }
	};

	printf("of %d comparisons, %%\n"
	       "| noise: of runs + of functions | rate | share | with a wrong verdict: nothing "
	       "changed, +5 %%, +10 %%, +20 %% | found: +5 %% (at most), by the rule \"more "
	       "than 5 "
	       "%%\" | +10 %% | +20 %% | with a wrong one by the rule |\n",
	       COMPARISONS);
	for (int noise = 0; noise < 4; noise++)
		for (int at = 0; at < 6; at++)
			print_setting((struct setting){
				.rate = rates[at / 2],
				.run_noise = noises[noise][0],
				.function_noise = noises[noise][1],
				.share = shares[at % 2],
				.is_uneven = noise == 3,
			});
	return 0;
}
