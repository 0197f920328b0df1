/* head - the lines above every report: the command, how it was recorded, the CPU account. */
#pragma once
#include <stdbool.h>

#include "report/style.h"

struct profile;
struct profile_info;
struct text;

/* One "label  sentence" line of a head, made safe to print and wrapped. */
void head_add_line(struct text *out, const struct style *style, const char *label,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The parts of a head, for fathom info. */
void head_add_command(struct text *out, const struct style *style,
		      const struct profile_info *info);
void head_add_time(struct text *out, const struct style *style, const struct profile *profile);
void head_add_calls(struct text *out, const struct style *style, const struct profile *profile);
void head_add_samples(struct text *out, const struct style *style,
		      const struct profile_info *info);
void head_add_trigger(struct text *out, const struct style *style,
		      const struct profile_info *info);
void head_add_cost(struct text *out, const struct style *style,
		   const struct profile_info *info);
void head_add_notes(struct text *out, const struct style *style,
		    const struct profile_info *info);
/* Likewise without notes on how the recording was made: base/detail_notes.h. */
void head_add_notes_of_summary(struct text *out, const struct style *style,
			       const struct profile_info *info);
/*
 * head_limits.c: whether a budget (--overhead) was exceeded, or a trace was paused to keep it.
 */
void head_add_limits(struct text *out, const struct style *style,
		     const struct profile *profile);

/* Whether there are too few samples to show where the time went. */
bool head_is_brief(const struct profile *profile);
/* Likewise for an attached process: whether it hardly ran. */
bool head_is_idle(const struct profile *profile);
/* Whether it waited more than it computed. */
bool head_is_waiting(const struct profile *profile);
/* Whether the machine had next to nothing to spare, so that a program may have waited for that. */
bool head_was_machine_full(const struct profile_info *info);

void head_add_only(struct text *out, const struct style *style,
		   const struct profile_info *info);

/* Whether a summary's head mentions the cost of process starts and ends. */
bool head_says_starts(const struct profile *profile);

/* In one line, cut at the terminal's width. */
void head_add_recorded_command(struct text *out, const struct style *style,
			       const struct profile *profile);
/* Above a summary: how long the program ran, how it was measured, and problems, if any. */
void head_add_summary(struct text *out, const struct style *style,
		      const struct profile *profile);
/* The same in one line (with problems), above every other view. */
void head_add_short(struct text *out, const struct style *style, const struct profile *profile);
