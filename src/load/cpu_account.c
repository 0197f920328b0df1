#include "load/cpu_account.h"

#include <string.h>

#include "base/text.h"

static bool is_known(int64_t ns)
{
	return ns != RECORDING_UNKNOWN && ns >= 0;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? FIGURE_UNKNOWN - 1 : sum;
}

struct stack_id cpu_account_add_stack(struct profile *profile, const char *name)
{
	struct function_id function = profile_add_function(
		profile, &(struct function){ .language = LANGUAGE_FATHOM, .name = name });
	struct frame_id frame =
		profile_add_frame(profile, &(struct frame){ .function = function });

	return profile_add_stack(profile, (struct stack_id){ 0 }, frame);
}

void cpu_account_add_row(struct profile *profile, struct thread_id thread, const char *name,
			 uint64_t ns, uint64_t samples)
{
	profile_add_weight(profile, &(struct weight){
					    .stack = cpu_account_add_stack(profile, name),
					    .thread = thread,
					    .ns = ns,
					    .samples = samples,
				    });
}

/* Adds a part of the account: to its sum in the info, and as a row unless it is 0. */
static void add_part(struct profile *profile, struct thread_id thread, const char *name,
		     int64_t ns, uint64_t *sum)
{
	if (!is_known(ns))
		return;
	*sum = add_saturated(*sum == FIGURE_UNKNOWN ? 0 : *sum, (uint64_t)ns);
	if (ns > 0)
		cpu_account_add_row(profile, thread, name, (uint64_t)ns, 0);
}

/* Names the process, so that the reader knows which program the time is of. */
static void name_unentered(const struct cpu_account_process *process, struct text *name)
{
	text_addf(name, "[not entered: %s", process->name);
	if (process->unentered_reason)
		text_addf(name, " (%s)", process->unentered_reason);
	text_add(name, "]");
}

void cpu_account_add_thread(struct profile *profile, struct thread_id thread,
			    const struct recording_thread *row,
			    const struct cpu_account_process *process)
{
	struct profile_info *info = profile_info(profile);
	struct text name = { 0 };
	int64_t unentered_ns = row->unentered_ns;

	/*
	 * All CPU time of a process without an agent is unentered, even if the row has no such
	 * figure.
	 */
	if (!is_known(unentered_ns) && process->unentered_reason)
		unentered_ns = row->cpu_ns;
	name_unentered(process, &name);
	add_part(profile, thread, "[start-up]", row->startup_ns, &info->startup_ns);
	add_part(profile, thread, "[exit]", row->exit_ns, &info->exit_ns);
	add_part(profile, thread, text_string(&name), unentered_ns, &info->unentered_ns);
	add_part(profile, thread, "[kernel time not sampled]", row->kernel_unsampled_ns,
		 &info->kernel_unsampled_ns);
	add_part(profile, thread, "[traced by a debugger]", row->traced_ns, &info->traced_ns);
	text_done(&name);
}

void cpu_account_open(struct profile *profile)
{
	struct profile_info *info = profile_info(profile);

	info->startup_ns = FIGURE_UNKNOWN;
	info->exit_ns = FIGURE_UNKNOWN;
	info->unentered_ns = FIGURE_UNKNOWN;
	info->kernel_unsampled_ns = FIGURE_UNKNOWN;
	info->traced_ns = FIGURE_UNKNOWN;
}

static uint64_t known_or_zero(uint64_t figure)
{
	return figure == FIGURE_UNKNOWN ? 0 : figure;
}

void cpu_account_close(struct profile *profile)
{
	struct profile_info *info = profile_info(profile);
	const uint64_t parts[] = {
		info->sampled_ns,
		info->thread_only_ns,
		info->lost_ns,
		known_or_zero(info->startup_ns),
		known_or_zero(info->exit_ns),
		known_or_zero(info->unentered_ns),
		known_or_zero(info->kernel_unsampled_ns),
		known_or_zero(info->traced_ns),
		known_or_zero(info->paused_ns),
	};
	uint64_t sum = 0;

	if (known_or_zero(info->paused_ns) > 0 && !profile_is_trace(profile))
		cpu_account_add_row(profile, (struct thread_id){ 0 }, "[paused by the program]",
				    info->paused_ns, 0);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		sum = add_saturated(sum, parts[i]);
	/* A trace does not divide what the kernel charged. */
	info->has_unexplained =
		!profile_is_trace(profile) && !info->is_wall &&
		info->kernel_cpu_ns != FIGURE_UNKNOWN &&
		!__builtin_sub_overflow(info->kernel_cpu_ns, sum, &info->unexplained_ns);
	if (!info->has_unexplained)
		info->unexplained_ns = 0;
}
