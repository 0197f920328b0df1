#include "cli/open_profile.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "load/late_names.h"
#include "load/load.h"
#include "profile/profile.h"

struct profile *open_profile(const char *path, const struct open_options *options,
			     struct notes *notes)
{
	CLEANUP(late_names_freep) struct late_names *late = NULL;
	CLEANUP(notes_freep) struct notes *unused = notes_new();
	struct progress progress = { 0 };
	struct profile *profile = NULL;
	struct error err;

	if (!notes)
		notes = unused;
	int rc = load_recording(path,
				&(struct load_options){
					.progress = progress_report,
					.context = &progress,
					.shows_plumbing = options->shows_plumbing,
					.has_raw_times = options->has_raw_times,
					.has_time_slots = options->has_time_slots,
					.wants_blame = options->wants_blame,
					.asks_no_servers = options->asks_no_servers,
				},
				notes, &profile, &late, &err);

	if (rc == 0)
		late_names_keep(late, path, profile, notes);
	if (rc == 0 && options->own)
		profile_info(profile)->own = profile_copy_string(profile, options->own);
	if (rc == 0 && filter_apply(profile, &options->part, &err) < 0) {
		profile_freep(&profile);
		rc = -EINVAL;
	}
	if (rc == 0)
		profile_info(profile)->has_full_names = options->has_full_names;
	if (rc == 0)
		profile_info(profile)->has_no_states = options->has_no_states;
	if (rc == -ENOENT)
		say("%s; 'fathom record -- COMMAND' makes one", err.text);
	else if (rc < 0)
		say_error(&err);
	return rc < 0 ? NULL : profile;
}
