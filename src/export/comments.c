#include "export/comments.h"

#include <inttypes.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"

struct comments {
	void (*add)(void *context, const char *line);
	void *context;
	struct text line;
};

static void end_line(struct comments *comments)
{
	comments->add(comments->context, text_string(&comments->line));
	text_clear(&comments->line);
}

static void add_fact(struct comments *comments, const char *name, const char *value)
{
	if (!value)
		return;
	text_addf(&comments->line, "%s: %s", name, value);
	end_line(comments);
}

static void add_figure(struct comments *comments, const char *name, uint64_t value)
{
	if (value == FIGURE_UNKNOWN)
		return;
	text_addf(&comments->line, "%s: %" PRIu64, name, value);
	end_line(comments);
}

static void add_command(struct comments *comments, const struct profile_info *info)
{
	if (info->command_count == 0)
		return;
	text_add(&comments->line, "command:");
	for (size_t i = 0; i < info->command_count; i++)
		text_addf(&comments->line, " %s", info->command[i]);
	end_line(comments);
}

static void add_account(struct comments *comments, const struct profile_info *info)
{
	add_figure(comments, "kernel_cpu_ns", info->kernel_cpu_ns);
	add_figure(comments, "sampled_ns", info->sampled_ns);
	add_figure(comments, "thread_only_ns", info->thread_only_ns);
	add_figure(comments, "lost_ns", info->lost_ns);
	add_figure(comments, "startup_ns", info->startup_ns);
	add_figure(comments, "exit_ns", info->exit_ns);
	add_figure(comments, "unentered_ns", info->unentered_ns);
	add_figure(comments, "kernel_unsampled_ns", info->kernel_unsampled_ns);
	add_figure(comments, "traced_ns", info->traced_ns);
	if (info->has_unexplained) {
		text_addf(&comments->line, "unexplained_ns: %" PRId64, info->unexplained_ns);
		end_line(comments);
	}
	add_figure(comments, "sampling_cost_ns", info->sampling_cost_ns);
}

static void add_stacks(struct comments *comments, const struct profile_info *info)
{
	for (size_t i = 0; i < info->stack_tally_count; i++) {
		text_addf(&comments->line, "stacks %s: %" PRIu64, info->stacks[i].reason,
			  info->stacks[i].samples);
		end_line(comments);
	}
}

void comments_each(const struct profile *profile, void (*add)(void *context, const char *line),
		   void *context)
{
	const struct profile_info *info = profile_get_info(profile);
	struct comments comments = { .add = add, .context = context };

	add_command(&comments, info);
	add_fact(&comments, "fathom", info->fathom_version);
	add_fact(&comments, "host", info->host);
	add_fact(&comments, "clock", info->clock);
	add_figure(&comments, "rate_hz", info->rate_hz);
	add_fact(&comments, "trigger", info->trigger);
	if (profile_is_trace(profile)) {
		add_figure(&comments, "calls", info->calls);
		add_figure(&comments, "kernel_cpu_ns", info->kernel_cpu_ns);
	} else {
		add_figure(&comments, "samples", info->samples);
		add_figure(&comments, "lost", info->lost);
		add_account(&comments, info);
		add_stacks(&comments, info);
	}
	for (size_t i = 0; i < info->note_count; i++)
		add_fact(&comments, "note", info->notes[i]);
	text_done(&comments.line);
}
