#include <string.h>

#include "base/text.h"
#include "profile/profile.h"
#include "report/head.h"

enum { NAMED_MAX = 4 };

static void add_one(struct text *out, const struct style *style,
		    const struct profile_info *info, const struct interpreter *interpreter)
{
	/* A trace has no native frames. */
	const bool is_trace = info->mode && strcmp(info->mode, "trace") == 0;
	const char *how = is_trace          ? ""
			  : info->is_folded ? "; its own plumbing is folded (--native shows it)"
					    : "; its own plumbing is shown, too";

	if (interpreter->why_not)
		head_add_line(out, style, interpreter->language,
			      "%s in %s: its functions are not seen, only the interpreter's "
			      "own: %s",
			      interpreter->version, interpreter->path, interpreter->why_not);
	else
		head_add_line(out, style, interpreter->language, "%s in %s%s",
			      interpreter->version, interpreter->path, how);
}

void head_add_interpreters(struct text *out, const struct style *style,
			   const struct profile_info *info)
{
	for (size_t i = 0; i < info->interpreter_count && i < NAMED_MAX; i++)
		add_one(out, style, info, &info->interpreters[i]);
	if (info->interpreter_count > NAMED_MAX)
		head_add_line(out, style, info->interpreters[NAMED_MAX].language,
			      "… and %zu more: 'fathom info' lists them",
			      info->interpreter_count - NAMED_MAX);
}
