#include "collect/processes/storms.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/events/exit_counters.h"
#include "collect/processes/image.h"
#include "collect/processes/ring_view.h"

/*
 * How long the ends of its children are still counted after a storm.  No longer: each fork
 * copies the counters.
 */
#define LINGER_NS 300000000ULL

/*
 * The agent reads before fork() whether the child delays its handshake, so a fork up to so long
 * after a storm's end may belong to it.
 */
#define FORK_NS 1000000ULL

struct storm {
	uint32_t id; /* 0: none */
	pid_t pid;
	bool is_of_programs; /* of listed programs: its other children are sampled */
	uint64_t begun_ns;
	uint64_t over_ns;                   /* when it ended; 0: it goes on */
	uint64_t gap_from_ns, gap_until_ns; /* between these it was over */
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

static void forget_storm(struct storm *storm)
{
	exit_counters_close(storm->counters);
	*storm = (struct storm){ .id = 0 };
}

static bool is_counting(const struct storm *storm)
{
	return storm->id != 0 && !exit_counters_is_stopped(storm->counters);
}

/*
 * Continues a storm of the same process that ended a moment ago; else makes a new one, or
 * returns NULL.
 */
static struct storm *make_storm(struct storms *storms, pid_t pid)
{
	struct storm *free_storm = NULL;

	for (size_t i = 0; i < STORMS_MAX; i++) {
		struct storm *storm = &storms->open[i];

		if (is_counting(storm) && storm->pid == pid)
			return storm;
		if (storm->id == 0 || (storm->over_ns != 0 && free_storm == NULL))
			free_storm = storm;
	}
	if (free_storm == NULL)
		return NULL;
	struct exit_counters *counters = exit_counters_open(pid);

	if (counters == NULL)
		return NULL;
	forget_storm(free_storm);
	*free_storm =
		(struct storm){ .id = ++storms->last_id, .pid = pid, .counters = counters };
	return free_storm;
}

/*
 * Delays the handshakes of all later children of parent, or of those that execute listed
 * programs.
 */
static void set_delays(struct storm *storm, struct image *parent, bool is_of_programs)
{
	storm->is_of_programs = is_of_programs;
	if (!is_of_programs)
		parent->has_had_storms = true;
	ring_view_set_delayed_handshakes(parent, !is_of_programs);
	ring_view_set_brief_programs(parent, false);
}

static void begin_storm(struct storms *storms, struct image *parent, bool is_of_programs)
{
	struct storm *storm = make_storm(storms, parent->pid);

	if (storm == NULL)
		return;
	parent->storm = storm->id;
	set_delays(storm, parent, is_of_programs);
	/* Children that were forked before do their handshake at once. */
	if (storm->over_ns == 0) {
		storm->begun_ns = monotonic_ns();
	} else {
		storm->gap_from_ns = storm->over_ns;
		storm->gap_until_ns = monotonic_ns();
		storm->over_ns = 0;
	}
}

static bool is_of_all(const struct storm *storm)
{
	return storm != NULL && !storm->is_of_programs;
}

/*
 * Not with several threads: their perf contexts would be clones of each other
 * (exit_counters.h).
 */
static bool may_begin(const struct storms *storms, const struct image *parent)
{
	return parent->running_threads == 1 && parent->has_sampling_events &&
	       storms->is_possible;
}

/*
 * For each child that executed a program, listed or not: updates the list, and begins or ends a
 * storm by it.
 */
static void storms_take_program(struct storms *storms, struct image *parent,
				const struct image *child)
{
	struct storm *storm = find_storm(storms, parent->storm);
	struct ring_program listed[RING_BRIEF_PROGRAMS];

	if (!brief_programs_take(&parent->brief_programs, image_program(child),
				 child->is_brief))
		return;
	const bool has_some = brief_programs_list(&parent->brief_programs, listed) > 0;

	if (storm == NULL && has_some && may_begin(storms, parent) &&
	    !parent->has_threads_below)
		begin_storm(storms, parent, true);
	else if (storm != NULL && storm->is_of_programs && !has_some)
		storms_end(storms, storm->id, parent);
	else if (storm != NULL)
		ring_view_set_brief_programs(parent, false);
}

static void storms_take_brief(struct storms *storms, struct image *parent)
{
	struct storm *storm = find_storm(storms, parent->storm);

	if (++parent->brief_children % STORM_CHILDREN != 0 || !may_begin(storms, parent))
		return;
	if (storm == NULL)
		begin_storm(storms, parent, false);
	else if (storm->is_of_programs)
		set_delays(storm, parent, false);
}

static void storms_take_long(struct storms *storms, struct image *parent)
{
	struct storm *storm = find_storm(storms, parent->storm);

	parent->brief_children = 0;
	if (is_of_all(storm))
		storms_end(storms, storm->id, parent);
}

void storms_take_child(struct storms *storms, struct image *parent, const struct image *child)
{
	if (image_program(child) != NULL)
		storms_take_program(storms, parent, child);
	/*
	 * In a storm of all children, those of the child would delay their handshakes, too: so
	 * they must have been brief as well.
	 */
	if (child->is_brief && !child->has_long_below)
		storms_take_brief(storms, parent);
	else
		storms_take_long(storms, parent);
}

static bool is_in_gap(uint64_t from_ns, uint64_t until_ns, uint64_t time_ns)
{
	return from_ns != 0 && time_ns > from_ns + FORK_NS && time_ns <= until_ns;
}

/* The storm among the children of pid at that time, which may have ended since. */
static const struct storm *find_at(const struct storms *storms, pid_t pid, uint64_t time_ns)
{
	for (size_t i = 0; i < STORMS_MAX; i++) {
		const struct storm *storm = &storms->open[i];

		if (storm->id != 0 && storm->pid == pid && storm->begun_ns < time_ns &&
		    !is_in_gap(storm->gap_from_ns, storm->gap_until_ns, time_ns) &&
		    !is_in_gap(storm->over_ns, UINT64_MAX, time_ns))
			return storm;
	}
	return NULL;
}

void storms_take_fork(const struct storms *storms, struct image *child,
		      const struct image *parent, uint64_t time_ns)
{
	const struct storm *storm = find_at(storms, parent->pid, time_ns);

	child->in_storm = storm != NULL ? storm->id : parent->in_storm;
	child->delays_handshake = parent->delays_handshake || is_of_all(storm) ||
				  is_of_all(find_storm(storms, parent->storm));
}

void storms_end(struct storms *storms, uint32_t id, struct image *parent)
{
	struct storm *storm = find_storm(storms, id);

	if (storm == NULL || storm->over_ns != 0)
		return;
	if (parent != NULL && parent->storm == id) {
		parent->storm = 0;
		parent->brief_children = 0;
		brief_programs_forget(&parent->brief_programs);
		ring_view_set_delayed_handshakes(parent, false);
		ring_view_set_brief_programs(parent, true);
	}
	storm->over_ns = monotonic_ns();
}

bool storms_is_of_programs(const struct storms *storms, uint32_t id)
{
	const struct storm *storm = find_storm(storms, id);

	return storm != NULL && storm->is_of_programs;
}

void storms_see_program(struct image *child, const struct image *parent, const char *path)
{
	if (parent->storm != 0 && brief_programs_has(&parent->brief_programs, path))
		child->delays_handshake = true;
}

void storms_stop_counting(struct storms *storms, uint32_t id)
{
	struct storm *storm = find_storm(storms, id);

	if (storm != NULL)
		exit_counters_stop(storm->counters);
}

void storms_forget(struct storms *storms)
{
	for (size_t i = 0; i < STORMS_MAX; i++) {
		struct storm *storm = &storms->open[i];

		if (storm->over_ns != 0 && monotonic_ns() - storm->over_ns > LINGER_NS)
			forget_storm(storm);
	}
}

pid_t storms_pid(const struct storms *storms, uint32_t id)
{
	const struct storm *storm = find_storm(storms, id);

	return storm != NULL ? storm->pid : 0;
}

bool storms_count(const struct storms *storms, const struct image *image)
{
	const struct storm *storm = find_storm(storms, image->in_storm);

	return storm != NULL && is_counting(storm);
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
