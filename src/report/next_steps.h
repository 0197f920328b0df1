/*
 * next_steps - the commands that show more of this very recording.
 */
#pragma once

struct packages;
struct report_options;
struct selection;
struct style;
struct text;

/* At most four lines, with the recording's path if it is not the one that is taken unnamed. */
void next_steps_add(const struct selection *selection, const struct packages *packages,
		    const struct report_options *options, const struct style *style,
		    struct text *out);
