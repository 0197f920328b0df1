#include "cli/open_profile.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "load/load.h"
#include "profile/profile.h"

struct profile *open_profile(const char *path, const struct open_options *options,
			     struct notes *notes)
{
	CLEANUP(notes_freep) struct notes *unused = notes_new();
	struct progress progress = { 0 };
	struct profile *profile = NULL;
	struct error err;
	int rc = load_recording(path,
				&(struct load_options){
					.progress = progress_report,
					.context = &progress,
					.shows_plumbing = options->shows_plumbing,
					.has_raw_times = options->has_raw_times,
				},
				notes ? notes : unused, &profile, &err);

	if (rc == -ENOENT)
		say("%s; 'fathom record -- COMMAND' makes one", err.text);
	else if (rc < 0)
		say_error(&err);
	return rc < 0 ? NULL : profile;
}
