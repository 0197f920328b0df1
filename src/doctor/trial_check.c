/* Judges a trial of the sampler: what it must show on this machine, and with what tolerance. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "doctor/checks.h"
#include "doctor/trial.h"

#define GROUP "trial"

/*
 * Standard errors: one healthy trial in 5,000 exceeds this, as three shares are checked. POINT
 * allows for the clock reads around each turn, which the true times leave out.
 */
#define ERRORS_ALLOWED 4.0
#define POINT          0.01
/* With fewer samples, chance may shift a share by seven points: shares cannot be confirmed. */
#define SAMPLES_FEW 800
/* Minimum of samples relative to those expected; timers run on the kernel's tick. */
#define FEWEST_SAMPLES 0.9
#define UNEXPLAINED    0.02

static double share(const uint64_t ns[WORK_FUNCTIONS], unsigned i)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < WORK_FUNCTIONS; k++)
		sum += ns[k];
	return sum ? (double)ns[i] / (double)sum : 0;
}

static uint64_t sample_count(const struct trial *trial)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < WORK_FUNCTIONS; i++)
		sum += trial->samples[i];
	return sum;
}

static void check_shares(const struct trial *trial, struct checks *checks)
{
	const double samples = (double)sample_count(trial);
	double worst = 0, allowed = 0;

	for (unsigned i = 0; i < WORK_FUNCTIONS; i++) {
		const double truth = share(trial->truth.ns, i);
		const double off = fabs(share(trial->sampled_ns, i) - truth);
		const double error = sqrt(truth * (1 - truth) / (samples > 1 ? samples : 1));
		const double bound = fmax(ERRORS_ALLOWED * error, POINT);

		if (i == 0 || off - bound > worst - allowed) {
			worst = off;
			allowed = bound;
		}
	}
	const bool is_wrong = samples < 1 || worst > allowed;
	const bool is_vague = samples < SAMPLES_FEW;

	checks_add(checks, GROUP, "shares",
		   is_wrong   ? CHECK_WRONG
		   : is_vague ? CHECK_LIMITED
			      : CHECK_OK,
		   "%.1f, %.1f and %.1f %% of three functions, in truth %.1f, %.1f and %.1f; "
		   "by chance one may be %.1f points off",
		   100 * share(trial->sampled_ns, 0), 100 * share(trial->sampled_ns, 1),
		   100 * share(trial->sampled_ns, 2), 100 * share(trial->truth.ns, 0),
		   100 * share(trial->truth.ns, 1), 100 * share(trial->truth.ns, 2),
		   100 * allowed);
	if (is_wrong)
		checks_add_remedy(checks,
				  "one is %.1f points off, %.1f may be by chance: do not trust "
				  "profiles here, and report this",
				  100 * worst, 100 * allowed);
	else if (is_vague)
		checks_add_remedy(checks,
				  "so few samples do not show that shares are right to a "
				  "few points: record for longer here");
}

static void check_samples(const struct trial_options *options, const struct trial *trial,
			  struct checks *checks)
{
	const uint64_t got = sample_count(trial);
	const bool is_few = (double)got < FEWEST_SAMPLES * trial->due;

	checks_add(checks, GROUP, "samples", is_few ? CHECK_LIMITED : CHECK_OK,
		   "%" PRIu64 " of %.0f that %u Hz make", got, trial->due, options->rate_hz);
	if (is_few && trial->is_timer)
		checks_add_remedy(checks, "timers run on the kernel's tick (CONFIG_HZ), and no "
					  "faster; the sigtrap trigger has no such bound");
}

static void check_account(const struct trial *trial, struct checks *checks)
{
	const double share_of =
		trial->cpu_ns ? (double)trial->unexplained_ns / (double)trial->cpu_ns : 0;
	const bool is_much = fabs(share_of) > UNEXPLAINED;

	if (!trial->has_unexplained || !trial->cpu_ns) {
		checks_add(checks, GROUP, "account", CHECK_LIMITED,
			   "what the kernel charged is not known here");
		return;
	}
	checks_add(checks, GROUP, "account", is_much ? CHECK_LIMITED : CHECK_OK,
		   "%.1f ms charged by the kernel, %.2f %% of it unexplained",
		   (double)trial->cpu_ns / 1e6, 100 * share_of);
}

static double percent(double ratio)
{
	return 100 * (ratio - 1);
}

/* Checks the cost of one sample here, and so the rate that a budget allows. */
static void check_handler(const struct trial *trial, struct checks *checks)
{
	const double trap_us = (double)trial->trap_ns / 1e3;
	const double handler_us = (double)trial->handler_ns / 1e3;

	if (trial->handler_ns == 0)
		return;
	if (trial->trap_ns == 0) {
		checks_add(checks, GROUP, "handler", CHECK_OK,
			   "%.1f µs a sample; what a timer's signal takes beside is not "
			   "measured",
			   handler_us);
		return;
	}
	checks_add(checks, GROUP, "handler", CHECK_OK,
		   "%.1f µs a sample, behind a trap of %.1f µs: 1 %% of the CPU time buys %.0f "
		   "samples a second (--overhead 1%%)",
		   handler_us, trap_us, 1e4 / (handler_us + trap_us));
}

/* Copied stacks are taken by the kernel, so recordings cannot contain their cost. */
static void check_measured_cost(const struct trial_options *options, const struct trial *trial,
				struct checks *checks)
{
	const struct slowdown *slowdown = &trial->slowdown;

	if (slowdown->pairs == 0) {
		checks_add(
			checks, GROUP, "cost", CHECK_LIMITED,
			"no recording of copied stacks says it; there was no time to measure "
			"it");
		return;
	}
	checks_add(checks, GROUP, "cost", CHECK_OK,
		   "the same work takes %.1f %% longer (%.1f to %.1f, %zu pairs in turn) at %u "
		   "Hz, the kernel's copies; the recorder's own time is not in it",
		   percent(slowdown->ratio), percent(slowdown->low), percent(slowdown->high),
		   slowdown->pairs, options->rate_hz);
}

static void check_cost(const struct trial_options *options, const struct trial *trial,
		       struct checks *checks)
{
	const struct slowdown *slowdown = &trial->slowdown;
	const double stated =
		trial->cpu_ns ? 100 * (double)trial->cost_ns / (double)trial->cpu_ns : 0;

	if (slowdown->pairs == 0) {
		checks_add(checks, GROUP, "cost", CHECK_LIMITED,
			   "the recording says %.1f %%; there was no time to measure it",
			   stated);
		return;
	}
	checks_add(checks, GROUP, "cost", CHECK_OK,
		   "the same work takes %.1f %% longer (%.1f to %.1f, %zu pairs in turn) at %u "
		   "Hz; the recording says %.1f %%",
		   percent(slowdown->ratio), percent(slowdown->low), percent(slowdown->high),
		   slowdown->pairs, options->rate_hz, stated);
	checks_add(checks, GROUP, "rates", CHECK_OK,
		   "by what the recording says: 100 Hz take %.2f %%, 1000 Hz %.1f %%, 10000 Hz "
		   "%.0f %%",
		   stated * 100 / options->rate_hz, stated * 1000 / options->rate_hz,
		   stated * 10000 / options->rate_hz);
}

void trial_check(const struct trial_options *options, const struct trial *trial,
		 struct checks *checks)
{
	check_shares(trial, checks);
	check_samples(options, trial, checks);
	check_account(trial, checks);
	check_handler(trial, checks);
	if (trial->is_copied)
		check_measured_cost(options, trial, checks);
	else
		check_cost(options, trial, checks);
}
