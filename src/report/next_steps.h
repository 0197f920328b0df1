/* next_steps - suggests commands that show more of this recording. */
#pragma once

struct packages;
struct report_options;
struct selection;
struct style;
struct text;

/* At most four lines, which include the recording's path unless it is the default. */
void next_steps_add(const struct selection *selection, const struct packages *packages,
		    const struct report_options *options, const struct style *style,
		    struct text *out);
