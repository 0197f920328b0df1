#include "doctor/trial.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "base/notes.h"
#include "doctor/output_of.h"
#include "load/load.h"
#include "profile/profile.h"
#include "profile/totals.h"

enum {
	PAIRS_MIN = 5, /* even if other load makes them slow */
	PAIRS_MAX = 60,
	PAIR_ROUNDS = 60, /* of work: some 50 ms */
	ROUNDS_MAX = 100000,
};

extern char **environ;

/* A temporary folder for one recording. */
struct place {
	char folder[PATH_MAX], file[PATH_MAX + 16];
};

static int place_make(struct place *place, struct error *err)
{
	const char *base = getenv("TMPDIR");

	if (!base || !*base)
		base = "/tmp";
	if (snprintf(place->folder, sizeof place->folder, "%s/fathom-doctor.XXXXXX", base) >=
	    (int)sizeof place->folder)
		return error_set(err, -ENAMETOOLONG, "TMPDIR is too long: %s", base);
	if (!mkdtemp(place->folder))
		return error_errno(err, -errno, "cannot make a folder in %s", base);
	snprintf(place->file, sizeof place->file, "%s/trial.fathom", place->folder);
	return 0;
}

static void place_empty(const struct place *place)
{
	static const char *const endings[] = { "", ".old", "-wal", "-shm", "-journal" };

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		CLEANUP(freep) char *path = xasprintf("%s%s", place->file, endings[i]);

		unlink(path);
	}
}

static void place_done(struct place *place)
{
	place_empty(place);
	rmdir(place->folder);
}

/* Runs it to its end, and returns the first line that it printed. */
static int run(char *const *arguments, char *out_line, size_t size, struct error *err)
{
	struct output_of output;
	const int rc = output_of_start(arguments, environ, true, &output);

	if (rc < 0)
		return error_errno(err, rc, "cannot run %s", arguments[0]);
	const bool has_line = output.lines && fgets(out_line, (int)size, output.lines);
	const int status = output_of_end(&output);

	if (status != 0 || !has_line)
		return error_set(err, -EIO, "'%s %s' failed (exit status %d)", arguments[0],
				 arguments[1], WEXITSTATUS(status));
	return 0;
}

static int run_work(const struct trial_options *options, const struct place *place,
		    unsigned rounds, struct work_times *out_times, struct error *err)
{
	char count[16], rate[16], line[128];
	char *self = (char *)options->self;
	char *recorded[] = { self,
			     (char *)"record",
			     (char *)"-q",
			     (char *)"-r",
			     rate,
			     (char *)"--trigger",
			     (char *)options->trigger,
			     (char *)"-o",
			     (char *)(place ? place->file : ""),
			     (char *)"--",
			     self,
			     (char *)"doctor",
			     (char *)"--work",
			     count,
			     NULL };
	char *bare[] = { self, (char *)"doctor", (char *)"--work", count, NULL };

	snprintf(count, sizeof count, "%u", rounds);
	snprintf(rate, sizeof rate, "%u", options->rate_hz);
	int rc = run(place ? recorded : bare, line, sizeof line, err);

	if (rc == 0 && !work_parse(line, out_times))
		rc = error_set(err, -EIO, "the known work answered '%s'", line);
	return rc;
}

static double seconds_of(const struct work_times *times)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < WORK_FUNCTIONS; i++)
		ns += times->ns[i];
	return (double)ns / 1e9;
}

static void read_profile(const struct profile *profile, struct trial *trial)
{
	const struct profile_info *info = profile_get_info(profile);
	struct totals totals;

	totals_by_function(profile, NULL, &totals);
	for (size_t row = 0; row < totals.count; row++) {
		const struct function *function = profile_get_function(
			profile, (struct function_id){ (uint32_t)row + 1 });

		for (unsigned i = 0; i < WORK_FUNCTIONS; i++) {
			if (strcmp(function->name, work_function_name(i)) != 0)
				continue;
			trial->sampled_ns[i] += totals.rows[row].self_ns;
			trial->samples[i] += totals.rows[row].self_samples;
		}
	}
	totals_done(&totals);
	trial->due = seconds_of(&trial->truth) * 1e9 /
		     (double)(info->period_ns ? info->period_ns : 1);
	trial->cpu_ns = info->kernel_cpu_ns == FIGURE_UNKNOWN ? 0 : info->kernel_cpu_ns;
	trial->unexplained_ns = info->unexplained_ns;
	trial->has_unexplained = info->has_unexplained;
	trial->is_timer = info->trigger && strcmp(info->trigger, "timer") == 0;
	trial->trap_ns = info->trigger_cost_ns == FIGURE_UNKNOWN ? 0 : info->trigger_cost_ns;
	if (info->handler_ns != FIGURE_UNKNOWN && info->samples > 0)
		trial->handler_ns = info->handler_ns / info->samples;
	trial->is_copied = info->trigger && strcmp(info->trigger, "copied") == 0;
	trial->cost_ns = info->sampling_cost_ns == FIGURE_UNKNOWN ? 0 : info->sampling_cost_ns;
}

static int look_at_shares(const struct trial_options *options, const struct place *place,
			  unsigned rounds, struct trial *trial, struct error *err)
{
	CLEANUP(profile_freep) struct profile *profile = NULL;
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	const struct load_options load = { .was_just_recorded = true };
	int rc = run_work(options, place, rounds, &trial->truth, err);

	if (rc == 0)
		rc = load_recording(place->file, &load, notes, &profile, NULL, err);
	if (rc == 0)
		read_profile(profile, trial);
	return rc;
}

/* Measures pairs until the time is over; alternates which of the two runs first. */
static int look_at_slowdown(const struct trial_options *options, const struct place *place,
			    uint64_t until_ns, struct trial *trial, struct error *err)
{
	double without[PAIRS_MAX], with[PAIRS_MAX];
	size_t pairs = 0;
	int rc = 0;

	while (rc == 0 && pairs < PAIRS_MAX &&
	       (pairs < PAIRS_MIN || monotonic_ns() < until_ns)) {
		for (unsigned turn = 0; rc == 0 && turn < 2; turn++) {
			const bool is_recorded = turn == pairs % 2;
			struct work_times times;

			place_empty(place);
			rc = run_work(options, is_recorded ? place : NULL, PAIR_ROUNDS, &times,
				      err);
			if (rc == 0)
				(is_recorded ? with : without)[pairs] = seconds_of(&times);
		}
		pairs++;
	}
	if (rc == 0)
		slowdown_of_pairs(without, with, pairs, &trial->slowdown);
	return rc;
}

int trial_run(const struct trial_options *options, struct trial *out_trial, struct error *err)
{
	const uint64_t begin_ns = monotonic_ns();
	const uint64_t until_ns = begin_ns + options->seconds * 1000000000ULL;
	struct work_times times;
	struct place place;

	*out_trial = (struct trial){ 0 };
	int rc = place_make(&place, err);

	if (rc < 0)
		return rc;
	rc = run_work(options, NULL, PAIR_ROUNDS, &times, err);
	if (rc == 0) {
		/* A third of the time, given the speed of this machine. */
		const double round = seconds_of(&times) / PAIR_ROUNDS;
		const double rounds = options->seconds / 3.0 / (round > 1e-6 ? round : 1e-6);

		rc = look_at_shares(options, &place,
				    rounds < ROUNDS_MAX ? (unsigned)rounds : ROUNDS_MAX,
				    out_trial, err);
	}
	if (rc == 0)
		rc = look_at_slowdown(options, &place, until_ns, out_trial, err);
	place_done(&place);
	return rc;
}
