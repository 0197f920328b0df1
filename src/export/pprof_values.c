#include "export/pprof_values.h"

#include <assert.h>
#include <string.h>

#include "export/meaning.h"
#include "profile/profile.h"

enum group {
	GROUP_RUNNING,
	GROUP_RUNNABLE,
	GROUP_INTERPRETER,
	GROUP_LOCK,
	GROUP_IO,
	GROUP_SLEEP,
	GROUP_OTHER,
	GROUP_COUNT
};
static_assert(2 + GROUP_COUNT == PPROF_VALUES_MAX, "a value for each group");

static const char *const words[GROUP_COUNT] = {
	[GROUP_RUNNING] = "running",
	[GROUP_RUNNABLE] = "runnable",
	[GROUP_INTERPRETER] = "gil_gvl",
	[GROUP_LOCK] = "lock",
	[GROUP_IO] = "io",
	[GROUP_SLEEP] = "sleep",
	[GROUP_OTHER] = "other",
};

static const enum group group_of[THREAD_STATE_COUNT] = {
	[THREAD_STATE_RUNNING] = GROUP_RUNNING, [THREAD_STATE_RUNNABLE] = GROUP_RUNNABLE,
	[THREAD_STATE_GIL] = GROUP_INTERPRETER, [THREAD_STATE_GVL] = GROUP_INTERPRETER,
	[THREAD_STATE_LOCK] = GROUP_LOCK,       [THREAD_STATE_SYSCALL] = GROUP_OTHER,
	[THREAD_STATE_STOPPED] = GROUP_OTHER,   [THREAD_STATE_IO] = GROUP_IO,
	[THREAD_STATE_SLEEP] = GROUP_SLEEP,     [THREAD_STATE_WAIT] = GROUP_OTHER,
};

size_t pprof_values_types(const struct profile *profile,
			  struct pprof_value_type out_types[PPROF_VALUES_MAX])
{
	const struct profile_info *info = profile_get_info(profile);
	const char *clock = info->clock && strcmp(info->clock, "wall") == 0 ? "wall" : "cpu";

	out_types[0] = (struct pprof_value_type){ meaning_of_counts(profile), "count" };
	out_types[1] = (struct pprof_value_type){ clock, "nanoseconds" };
	for (size_t i = 0; i < GROUP_COUNT; i++)
		out_types[2 + i] = (struct pprof_value_type){ words[i], "nanoseconds" };
	return info->is_wall ? PPROF_VALUES_MAX : 2;
}

void pprof_values_of(const struct profile *profile, const struct weight *weight,
		     int64_t out_values[PPROF_VALUES_MAX])
{
	memset(out_values, 0, PPROF_VALUES_MAX * sizeof *out_values);
	out_values[0] = (int64_t)meaning_of_count(profile, weight);
	out_values[1] = (int64_t)weight->ns;
	out_values[2 + group_of[weight->state]] = (int64_t)weight->ns;
}
