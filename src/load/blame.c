#include "load/blame.h"

#include <string.h>

#include "base/memory.h"
#include "load/blame_sums.h"
#include "load/timelines.h"
#include "profile/blame.h"
#include "profile/profile.h"

int blame_read(struct recording_reader *reader, const struct blame_terms *terms,
	       struct profile *profile, struct blames *out_blames, struct error *err)
{
	CLEANUP(timelines_done) struct timelines timelines = { 0 };
	struct blame_sums sums = { .profile = profile, .timelines = &timelines };
	const int rc = timelines_read(reader, terms, &timelines, err);

	*out_blames = (struct blames){ 0 };
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < timelines.count; i++) {
		blame_add_waits(&sums, &timelines.rows[i]);
		blame_add_runnable(&sums, &timelines.rows[i]);
	}
	out_blames->is_cut = timelines.is_cut;
	out_blames->count = sums.count;
	if (sums.count > 0) {
		out_blames->rows = profile_alloc(profile, sums.count * sizeof *sums.rows);
		memcpy(out_blames->rows, sums.rows, sums.count * sizeof *sums.rows);
	}
	blame_sums_done(&sums);
	return 0;
}
