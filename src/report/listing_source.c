/* Finds and reads the source of a listing's part, or explains why there is none. */
#include "report/listing_internal.h"

#include "base/error.h"
#include "base/memory.h"
#include "profile/lines.h"
#include "profile/profile.h"
#include "report/source.h"

static struct source_age age_of(const struct profile_info *info)
{
	if (info->start_unix_ns == FIGURE_UNKNOWN || info->wall_ns == FIGURE_UNKNOWN)
		return (struct source_age){ 0 };
	return (struct source_age){ info->start_unix_ns, info->start_unix_ns + info->wall_ns };
}

/* Resolves relative paths against the directory where the program was started. */
static char *path_from_here(const struct profile_info *info, const char *file)
{
	CLEANUP(freep) char *path = source_path(file);
	const bool is_relative = path && path[0] != '/' && info->directory != NULL;

	if (is_relative)
		return xasprintf("%s/%s", info->directory, path);
	return xstrdup(path ? path : file);
}

int listing_read_source(const struct profile *profile, const struct lines_part *part,
			struct source *out_source, struct error *err)
{
	const struct function *function = profile_get_function(profile, part->function);

	if (part->file && *part->file) {
		const struct profile_info *info = profile_get_info(profile);
		CLEANUP(freep) char *path = path_from_here(info, part->file);

		return source_read(path, part->rows[part->count - 1].line, age_of(info),
				   out_source, err);
	}
	if (function_is_builtin(function))
		return error_set(err, -1, "%s is written in C: %s keeps no lines of it",
				 function->name, language_title(function->language));
	if (language_is_interpreted(function->language) && function->line > 0)
		return error_set(err, -1, "%s has no file: it was compiled from a string",
				 function->name);
	if (language_is_interpreted(function->language))
		return error_set(err, -1, "these functions have no names");
	return error_set(err, -1,
			 "the lines of %s are not known: its file has no debug "
			 "information",
			 function->name);
}
