#include "report/account.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "profile/profile.h"
#include "report/number.h"
#include "report/style.h"

enum { NAMED_MAX = 4, MEANING_COLUMN = 39 };

struct row {
	const char *name;
	const char *meaning;
	double ns; /* that of "unexplained" may be negative */
	bool is_known;
	bool is_always_shown;
	bool is_rare; /* shown only if ns is not 0 */
};

static void add_row(struct text *out, const struct style *style, const struct row *row,
		    const struct time_unit *unit, uint64_t whole)
{
	struct text number = { 0 };
	double percent = whole > 0 ? 100 * row->ns / (double)whole : 0;

	if (fabs(percent) < 0.05)
		percent = 0;
	if (row->is_known) {
		number_add_signed_time(&number, unit, row->ns);
		text_addf(out, "%14s  %5.1f %%  ", text_string(&number), percent);
	} else {
		text_addf(out, "%14s  %7s  ", "not known", "");
	}
	if (*row->meaning) {
		text_addf(out, "%-12s  ", row->name);
		style_add_wrapped(out, style, MEANING_COLUMN, row->meaning);
	} else {
		text_add(out, row->name);
	}
	text_add(out, "\n");
	text_done(&number);
}

/* Adds "processes that could not be sampled: bash (pid 12, 31.2 ms), …". */
static void name_unentered(struct text *meaning, const struct profile *profile)
{
	size_t count = 0;

	text_add(meaning, "processes that could not be sampled");
	for (uint32_t i = 1; i <= profile_process_count(profile); i++) {
		const struct process *process =
			profile_get_process(profile, (struct process_id){ i });
		if (!process->unentered_reason)
			continue;
		if (++count > NAMED_MAX)
			continue;
		text_add(meaning, count == 1 ? ": " : ", ");
		text_add_printable(meaning, process->name, strlen(process->name));
		text_addf(meaning, " (pid %d", process->pid);
		const uint64_t ns =
			process->unentered_ns > 0 ? process->unentered_ns : process->cpu_ns;
		if (ns > 0) {
			text_add(meaning, ", ");
			number_add_any_time(meaning, ns);
		}
		text_add(meaning, ")");
	}
	if (count > NAMED_MAX)
		text_addf(meaning, " and %zu more", count - NAMED_MAX);
}

uint64_t account_cpu_ns(const struct profile_info *info)
{
	if (info->kernel_cpu_ns != FIGURE_UNKNOWN && !info->is_wall)
		return info->kernel_cpu_ns;

	const uint64_t parts[] = { info->sampled_ns, info->thread_only_ns,
				   info->lost_ns,    info->startup_ns,
				   info->exit_ns,    info->unentered_ns,
				   info->traced_ns,  info->kernel_unsampled_ns,
				   info->paused_ns };
	bool is_saturated = false;
	uint64_t sum = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		sum_add(&sum, parts[i] == FIGURE_UNKNOWN ? 0 : parts[i], &is_saturated);
	return sum;
}

/* The last row: the kernel's total, to which the rows above add up. */
static struct row sum_row(const struct profile_info *info)
{
	bool is_user = info->clock && strcmp(info->clock, "user") == 0;

	if (info->is_wall)
		return (struct row){ "together",
				     "the lives of all threads",
				     (double)account_cpu_ns(info),
				     true,
				     true,
				     false };
	if (info->kernel_cpu_ns == FIGURE_UNKNOWN)
		return (struct row){ "together",
				     "the kernel's own figure is not known here, so nothing "
				     "says what is missing",
				     (double)account_cpu_ns(info),
				     true,
				     true,
				     false };
	return (struct row){ "charged",
			     is_user ? "the user time the kernel charged to everything that ran"
				     : "the CPU time the kernel charged to everything that ran",
			     (double)info->kernel_cpu_ns,
			     true,
			     true,
			     false };
}

static struct row part_row(const char *name, const char *meaning, uint64_t ns)
{
	bool is_known = ns != FIGURE_UNKNOWN;

	return (struct row){
		.name = name,
		.meaning = meaning,
		.ns = is_known ? (double)ns : 0,
		.is_known = is_known,
	};
}

void account_add(struct text *out, const struct style *style, const struct profile *profile,
		 bool is_whole)
{
	const struct profile_info *info = profile_get_info(profile);
	uint64_t whole = account_cpu_ns(info);
	const struct time_unit *unit = time_unit_for(whole);
	struct text unentered = { 0 };

	name_unentered(&unentered, profile);
	struct row rows[] = {
		part_row("sampled", "what the samples stand for", info->sampled_ns),
		part_row("by thread",
			 "what is known by thread or process only: too short to be sampled, or "
			 "between the last sample and the end",
			 info->thread_only_ns),
		part_row("lost",
			 "represented by samples that were taken, but lost before they were "
			 "recorded",
			 info->lost_ns),
		part_row("start-up", "before the first instruction that could be sampled",
			 info->startup_ns),
		part_row("exit", "after the last instruction", info->exit_ns),
		part_row("not entered", text_string(&unentered), info->unentered_ns),
		part_row("kernel", "system time that could not be sampled",
			 info->kernel_unsampled_ns),
		part_row("traced", "while a debugger traced a process, which was not sampled",
			 info->traced_ns),
		part_row("paused", "while a program had switched sampling off",
			 info->paused_ns),
		{ "unexplained", "", (double)info->unexplained_ns, info->has_unexplained,
		  info->has_unexplained, false },
	};
	rows[0].is_always_shown = true;
	rows[1].is_rare = true;
	rows[2].is_rare = true;
	rows[7].is_rare = true;
	rows[8].is_rare = true;
	style_add(out, style, TINT_BOLD, info->is_wall ? "Account" : "CPU account");
	text_add(out, "\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].ns != 0 || rows[i].is_always_shown ||
		    (is_whole && !rows[i].is_rare))
			add_row(out, style, &rows[i], unit, whole);
	}
	struct row sum = sum_row(info);
	text_add(out, "  ------------  -------\n");
	add_row(out, style, &sum, unit, whole);
	text_done(&unentered);
}
