#include "collect/storms.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/exit_counters.h"
#include "collect/image.h"
#include "collect/ring_view.h"

struct storm {
	uint32_t id; /* 0: none */
	pid_t pid;
	uint64_t begun_ns;
	struct exit_counters *counters;
};

struct storms {
	bool is_possible;
	uint32_t last_id;
	struct storm open[STORMS_MAX];
};

static struct storm *find_storm(const struct storms *storms, uint32_t id)
{
	for (size_t i = 0; i < STORMS_MAX && id != 0; i++) {
		if (storms->open[i].id == id)
			return (struct storm *)&storms->open[i];
	}
	return NULL;
}

struct storms *storms_new(bool is_possible)
{
	struct storms *storms = xzalloc(sizeof *storms);

	storms->is_possible = is_possible;
	return storms;
}

void storms_free(struct storms *storms)
{
	for (size_t i = 0; i < STORMS_MAX && storms != NULL; i++)
		exit_counters_close(storms->open[i].counters);
	free(storms);
}

void storms_stop(struct storms *storms)
{
	storms->is_possible = false;
}

static void begin_storm(struct storms *storms, struct image *parent)
{
	struct storm *storm = NULL;

	for (size_t i = 0; i < STORMS_MAX; i++) {
		if (storms->open[i].id == 0)
			storm = &storms->open[i];
	}
	if (storm == NULL)
		return;
	storm->counters = exit_counters_open(parent->pid);
	if (storm->counters == NULL)
		return;
	storm->id = ++storms->last_id;
	storm->pid = parent->pid;
	parent->storm = storm->id;
	parent->has_had_storms = true;
	ring_view_set_late_hellos(parent, true);
	/* A child that was born before has said hello, or does so at once. */
	storm->begun_ns = monotonic_ns();
}

void storms_take_child(struct storms *storms, struct image *parent, bool is_brief)
{
	parent->brief_children = is_brief ? parent->brief_children + 1 : 0;
	if (!is_brief)
		storms_end(storms, parent->storm, parent);
	/* Its contexts would be clones of those of its threads: exit_counters.h. */
	else if (parent->storm == 0 && parent->brief_children % STORM_CHILDREN == 0 &&
		 parent->running_threads == 1 && parent->has_sampling_events &&
		 storms->is_possible)
		begin_storm(storms, parent);
}

void storms_take_fork(const struct storms *storms, struct image *child,
		      const struct image *parent, uint64_t time_ns)
{
	const struct storm *storm = find_storm(storms, parent->storm);

	child->in_storm =
		storm != NULL && storm->begun_ns < time_ns ? storm->id : parent->in_storm;
	child->says_hello_late = parent->says_hello_late || parent->storm != 0;
}

void storms_end(struct storms *storms, uint32_t id, struct image *parent)
{
	struct storm *storm = find_storm(storms, id);

	if (storm == NULL)
		return;
	exit_counters_close(storm->counters);
	*storm = (struct storm){ .id = 0 };
	if (parent == NULL || parent->storm != id)
		return;
	parent->storm = 0;
	parent->brief_children = 0;
	ring_view_set_late_hellos(parent, false);
}

pid_t storms_pid(const struct storms *storms, uint32_t id)
{
	const struct storm *storm = find_storm(storms, id);

	return storm != NULL ? storm->pid : 0;
}

bool storms_count(const struct storms *storms, const struct image *image)
{
	return find_storm(storms, image->in_storm) != NULL;
}

void storms_read(struct storms *storms)
{
	for (size_t i = 0; i < STORMS_MAX; i++) {
		if (storms->open[i].counters != NULL)
			exit_counters_read(storms->open[i].counters);
	}
}

bool storms_take_end(struct storms *storms, const struct image *image, pid_t tid,
		     uint64_t *out_ns)
{
	struct storm *storm = find_storm(storms, image->in_storm);

	return storm != NULL && exit_counters_take(storm->counters, tid, out_ns);
}
