#include "report/missing.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"
#include "profile/sum.h"
#include "report/account.h"
#include "report/number.h"

/* Per mille: missing time is mentioned in every head from this share on. */
enum { MISSING_SHOWN = 10 };

/* Stacks with all interpreted frames; at most native ones are missing. */
static bool is_whole(const struct stack_tally *tally)
{
	static const char *const whole[] = { "complete", "switched", "made_code",
					     "native_no_rule", "native_cut" };

	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		if (strcmp(tally->reason, whole[i]) == 0)
			return true;
	return false;
}

/* For frequent reasons; "" for others, which the table of all reasons explains. */
static const char *short_reason(const struct stack_tally *tally)
{
	static const struct {
		const char *reason, *words;
	} reasons[] = {
		{ "no_module", "by code made at run time" },
		{ "no_rule", "by code without unwind rules" },
		{ "too_deep", "by the limit of depth" },
	};

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (strcmp(tally->reason, reasons[i].reason) == 0)
			return reasons[i].words;
	return "";
}

struct cuts {
	uint64_t all, cut; /* samples */
	const struct stack_tally *most;
};

static struct cuts count_cuts(const struct profile_info *info)
{
	struct cuts cuts = { 0 };
	bool is_saturated = false;

	for (size_t i = 0; i < info->stack_tally_count; i++) {
		const struct stack_tally *tally = &info->stacks[i];

		sum_add(&cuts.all, tally->samples, &is_saturated);
		if (is_whole(tally))
			continue;
		sum_add(&cuts.cut, tally->samples, &is_saturated);
		if (!cuts.most || tally->samples > cuts.most->samples)
			cuts.most = tally;
	}
	return cuts;
}

static bool is_worth_saying(uint64_t part, uint64_t whole)
{
	return part != FIGURE_UNKNOWN && whole != FIGURE_UNKNOWN &&
	       number_percent(part, whole) * 10 > MISSING_SHOWN;
}

/* The text so far, and its style. */
struct saying {
	struct text *text;
	bool is_short;
	size_t count;
};

static void add_part(struct saying *saying, const char *what)
{
	text_addf(saying->text, "%s%s", saying->count++ > 0 ? ", " : "", what);
}

static bool add_missing(struct saying *saying, uint64_t part, uint64_t whole, const char *what,
			const char *in_short)
{
	CLEANUP(text_done) struct text share = { 0 };

	if (!is_worth_saying(part, whole))
		return false;
	text_addf(&share, "%.1f %% %s", number_percent(part, whole),
		  saying->is_short ? in_short : what);
	add_part(saying, text_string(&share));
	return true;
}

/* Adds "97.8 % of the stacks are cut short by code made at run time". */
static void add_cuts(struct saying *saying, const struct profile_info *info)
{
	const struct cuts cuts = count_cuts(info);
	const char *reason = cuts.most ? short_reason(cuts.most) : "";
	CLEANUP(text_done) struct text what = { 0 };

	text_addf(&what, "of %sstacks %scut short", saying->is_short ? "" : "the ",
		  saying->is_short ? "" : "are ");
	if (reason[0] != '\0')
		text_addf(&what, "%s %s", cuts.most->samples < cuts.cut ? ", mostly" : "",
			  reason);
	add_missing(saying, cuts.cut, cuts.all, text_string(&what), text_string(&what));
}

/*
 * Time without samples is blamed on short threads only above this part; below, most of it is
 * between threads' last samples and their ends.
 */
#define SHORT_THREADS_PART 5
#define LOW_RATE           1000

static bool are_too_short(const struct profile_info *info, uint64_t cpu_ns)
{
	return info->thread_only_ns != FIGURE_UNKNOWN && info->rate_hz <= LOW_RATE &&
	       info->thread_only_ns > cpu_ns / SHORT_THREADS_PART;
}

static uint64_t unentered_ns(const struct process *process)
{
	if (!process->unentered_reason)
		return 0;
	return process->unentered_ns > 0 ? process->unentered_ns : process->cpu_ns;
}

/* Adds "2.0 % is of processes that could not be sampled (busybox: it is statically linked)". */
static void add_unentered(struct saying *saying, const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	const struct process *most = NULL;
	size_t others = 0;

	if (!add_missing(saying, info->unentered_ns, account_cpu_ns(info),
			 "is of processes that could not be sampled",
			 "of processes not sampled") ||
	    saying->is_short)
		return;
	for (uint32_t i = 1; i <= profile_process_count(profile); i++) {
		const struct process *process =
			profile_get_process(profile, (struct process_id){ i });

		others += unentered_ns(process) > 0;
		if (unentered_ns(process) > (most ? unentered_ns(most) : 0))
			most = process;
	}
	if (!most)
		return;
	text_add(saying->text, others > 1 ? " (one of them " : " (");
	text_add_printable(saying->text, most->name, strlen(most->name));
	text_add(saying->text, ": ");
	text_add_printable(saying->text, most->unentered_reason,
			   strlen(most->unentered_reason));
	text_add(saying->text, ")");
}

static void add_interpreters(struct saying *saying, const struct profile_info *info)
{
	for (size_t i = 0; i < info->interpreter_count; i++) {
		CLEANUP(text_done) struct text what = { 0 };

		if (!info->interpreters[i].why_not)
			continue;
		text_addf(&what, "functions of %s %s are not seen",
			  info->interpreters[i].language, info->interpreters[i].version);
		add_part(saying, text_string(&what));
	}
}

static uint64_t unexplained_ns(const struct profile_info *info)
{
	const uint64_t ns = (uint64_t)info->unexplained_ns;

	return info->unexplained_ns < 0 ? 0 - ns : ns;
}

bool missing_has_unexplained(const struct profile_info *info)
{
	return info->has_unexplained &&
	       is_worth_saying(unexplained_ns(info), account_cpu_ns(info));
}

size_t missing_add(struct text *text, const struct profile *profile, bool is_brief,
		   bool is_short)
{
	const struct profile_info *info = profile_get_info(profile);
	const uint64_t cpu_ns = account_cpu_ns(info);
	struct saying saying = { .text = text, .is_short = is_short };

	if (info->is_unfinished)
		add_part(&saying, "the recording is not finished");
	add_cuts(&saying, info);
	add_missing(&saying, info->lost, info->lost + info->samples, "of the samples are lost",
		    "of samples lost");
	if (!info->is_wall && !is_brief && are_too_short(info, cpu_ns))
		add_missing(&saying, info->thread_only_ns, cpu_ns,
			    "is of threads too short for this rate ('--rate 10000')",
			    "of threads too short for this rate ('--rate 10000')");
	else if (!info->is_wall && !is_brief)
		add_missing(&saying, info->thread_only_ns, cpu_ns,
			    "is shorter than a sampling period", "shorter than a period");
	if (info->has_unexplained)
		add_missing(&saying, unexplained_ns(info), cpu_ns, "is unexplained",
			    "unexplained");
	add_interpreters(&saying, info);
	add_unentered(&saying, profile);
	return saying.count;
}
