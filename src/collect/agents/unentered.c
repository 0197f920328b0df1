#include "collect/agents/unentered.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/monotonic.h"
#include "collect/events/cpu_meter.h"
#include "collect/agents/enter.h"
#include "collect/processes/image.h"
#include "collect/events/perf_events.h"
#include "collect/system/process_stat.h"
#include "collect/agents/reach.h"
#include "collect/processes/tree.h"

/*
 * Its counters must be opened before it ends; without them CPU time is known only by polling.
 */
#define LOOK_EVERY_MS           16
#define LOOK_UNWATCHED_EVERY_MS 2

int unentered_wait_ms(const struct image *image, int wait_ms)
{
	const bool is_running_unwatched = image->unwatched_since_ns != 0 && !image->is_idle;
	const int due_ms = is_running_unwatched ? LOOK_UNWATCHED_EVERY_MS : LOOK_EVERY_MS;

	return due_ms < wait_ms ? due_ms : wait_ms;
}

static int open_on(void *context, pid_t tid)
{
	(void)context;
	return perf_open_counter(tid, false);
}

static void unentered_open_counters(struct tree *tree, struct image *image, uint64_t seen_ns)
{
	if (image->is_counter_tried)
		return;
	const int rc = thread_events_open(&image->counters.events, image->pid, open_on, NULL);

	/* There may be room at the next look. */
	if (rc == -EMFILE || rc == -ENFILE)
		return;
	image->is_counter_tried = true;
	image->counters.before_ns = rc == 0 ? seen_ns : 0;
	tree_read_process(tree, image);
}

/*
 * Finds the CPU time of an image up to the exec that ended the tree's counter on it.  Its own
 * counters stopped at that exec, too.  Without any: the part that it cannot have used since.
 */
static void unentered_find_watched(struct tree *tree, struct image *image, uint64_t seen_ns)
{
	const uint64_t since_ns = monotonic_ns() - image->unwatched_since_ns;

	if (image->is_watched_known)
		return;
	image->is_watched_known = true;
	image->watched_ns = image->cpu_before_ns;
	if (image->ended_ns > 0 && !image->is_end_unknown)
		image->watched_ns = image->ended_ns;
	else if (image->counters.events.count > 0)
		image->watched_ns =
			image->counters.before_ns + thread_events_read(&image->counters.events);
	else if (seen_ns > since_ns && seen_ns - since_ns > image->watched_ns)
		image->watched_ns = seen_ns - since_ns;
	tree_read_name(tree, image);
}

void unentered_expect(struct tree *tree, struct image *image, const struct enter_terms *terms)
{
	if (image == NULL)
		return;
	if (image->state != IMAGE_ENTERED) {
		/*
		 * A child of vfork, in its parent's memory: it is the same image after the
		 * exec.
		 */
		unentered_look(tree, image, terms);
		return;
	}
	thread_events_close(&image->next_counters.events);
	image->next_counters.before_ns = cpu_meter_process_ns(image->pid);
	if (terms->counts_unentered)
		thread_events_open(&image->next_counters.events, image->pid, open_on, NULL);
}

void unentered_look(struct tree *tree, struct image *image, const struct enter_terms *terms)
{
	const bool is_user_clock = terms->clock == CLOCK_KIND_USER;
	const uint64_t seen_ns =
		is_user_clock ? process_user_ns(image->pid) : cpu_meter_process_ns(image->pid);

	image->is_gone = !process_is_alive(image->pid);
	image->is_idle = seen_ns == image->seen_ns;
	if (seen_ns > image->seen_ns)
		image->seen_ns = seen_ns;
	if (!image->is_reach_known && image->has_program && !image->is_gone) {
		image->is_reach_known = true;
		image->why_out_of_reach = reach_why_not(image->pid, &terms->paths);
	}
	if (!terms->counts_unentered)
		return;
	if (image->unwatched_since_ns != 0)
		unentered_find_watched(tree, image, seen_ns);
	unentered_open_counters(tree, image, seen_ns);
}
