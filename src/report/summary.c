#include "report/summary.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/packages.h"
#include "profile/profile.h"
#include "report/head.h"
#include "report/hot.h"
#include "report/nameless.h"
#include "report/next_steps.h"
#include "report/report_options.h"
#include "report/rows.h"
#include "report/selection.h"
#include "report/style.h"

enum { HOT_ROWS = 10 };

/* A trigger that is not the best one: why. */
static void add_trigger(struct text *out, const struct style *style,
			const struct profile_info *info)
{
	CLEANUP(text_done) struct text sentence = { 0 };

	if (!info->trigger || !info->trigger_why || strcmp(info->trigger, "timer") != 0)
		return;
	text_add(&sentence, "sampled by timers: ");
	text_add_printable(&sentence, info->trigger_why, strlen(info->trigger_why));
	text_add(out, "\n");
	style_add_wrapped(out, style, 0, text_string(&sentence));
	text_add(out, "\n");
}

void summary_add(const struct selection *selection, const struct report_options *options,
		 const struct style *style, struct text *out)
{
	const struct packages_options own = { .own = options->own,
					      .is_all_own = options->is_all_own };
	CLEANUP(packages_freep)
	struct packages *packages = packages_new(selection->profile, &own);

	head_add_summary(out, style, selection->profile);
	selection_add_base(selection, style, out);
	text_add(out, "\n");
	hot_add(selection, packages, HOT_ROWS, style, out);
	report_table_add(selection, options, style, out);
	next_steps_add(selection, packages, options->path, style, out);
	nameless_add(selection, options, style, out);
	add_trigger(out, style, profile_get_info(selection->profile));
	if (profile_get_info(selection->profile)->note_count > 0) {
		text_add(out, "\n");
		head_add_notes(out, style, profile_get_info(selection->profile));
	}
}
