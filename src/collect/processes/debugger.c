#include "collect/processes/debugger.h"

#include <stdio.h>
#include <string.h>

#include "abi/handshake.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "collect/events/cpu_meter.h"
#include "collect/processes/image.h"
#include "collect/processes/pause.h"
#include "collect/events/perf_events.h"
#include "collect/system/process_stat.h"
#include "collect/processes/tree.h"
#include "record/writer.h"

#define NS_PER_MS     1000000ULL
#define LOOK_EVERY_NS (15 * NS_PER_MS)
/*
 * Processes whose status is read at a time, which takes 10 to 30 us each; others wait for their
 * turn.
 */
#define MAX_STATUS_READS 32
/* Processes whose CPU clock is read at a time, 1 us each. */
#define MAX_CLOCK_READS 64
/* The counter of a tree with 500 threads takes 0.2 ms: more than the clocks of so few. */
#define FEW_PROCESSES 8
/*
 * A process that was changed to timers is checked less often: a busy server has run at each
 * check, and its timers send a debugger a trap or two anyway before they are paused.
 */
#define LOOK_CHANGED_EVERY_NS (4 * LOOK_EVERY_NS)
/* A process that announced a debugger and has none after this time will not get one. */
#define ATTACH_PATIENCE_NS (1000 * NS_PER_MS)

/*
 * Ends the pause for which a process asked before its debugger attached: it has attached by
 * now, or never will.
 */
static void debugger_settle_request(struct image *image, bool is_traced)
{
	const struct pause *pause = &image->pause;

	if (!(pause->causes & PAUSE_ASKED) || pause->reason != HANDSHAKE_DEBUGGER)
		return;
	if (is_traced || monotonic_ns() - pause->asked_ns > ATTACH_PATIENCE_NS)
		pause_end(image, PAUSE_ASKED);
}

/* Whether the image may have got or lost a debugger since the last check. */
static bool debugger_may_have_changed(struct image *image)
{
	const uint64_t now_ns = monotonic_ns();

	/* A debugger that was attached from the start was found at the handshake. */
	if (image->start_ns + LOOK_EVERY_NS > now_ns && image->pause.causes == 0)
		return false;
	if (image->trigger.state == IMAGE_TRIGGER_CHANGED && image->pause.causes == 0 &&
	    now_ns - image->debugger_look_ns < LOOK_CHANGED_EVERY_NS)
		return false;
	image->debugger_look_ns = now_ns;
	const uint64_t burned_ns = cpu_meter_process_ns(image->pid);
	const bool has_run = burned_ns != image->looked_at_ns;

	image->looked_at_ns = burned_ns;
	return has_run || image->pause.causes != 0;
}

static bool debugger_look_at(struct image *image, const struct pause_terms *terms)
{
	if (image->state != IMAGE_ENTERED || !debugger_may_have_changed(image))
		return false;
	pause_look(image);
	const bool is_traced = process_has_debugger(image->pid);
	const bool was_traced = image->pause.causes & PAUSE_DEBUGGER;

	if (is_traced && !was_traced)
		pause_begin(image, PAUSE_DEBUGGER, terms);
	if (!is_traced && was_traced)
		pause_end(image, PAUSE_DEBUGGER);
	debugger_settle_request(image, is_traced);
	return true;
}

void debugger_note(struct recording_writer *writer, const struct image *image)
{
	struct text note = { 0 };

	if (image->pause.traced_ns == 0 || (!(image->ring_fixed.flags & RING_TIMER) &&
					    image->trigger.state != IMAGE_TRIGGER_CHANGED))
		return;
	text_add_printable(&note, image->name, strnlen(image->name, sizeof image->name));
	text_addf(&note, " (pid %d) was traced by a debugger: %s", (int)image->pid,
		  image->samples == 0
			  ? "it is not sampled, even after that, since timers cannot be begun "
			    "from outside"
			  : "timers cannot be stopped from outside, so the debugger may have "
			    "been shown the SIGTRAPs they send (in gdb, 'handle SIGTRAP nostop "
			    "noprint' hides them)");
	recording_writer_note(writer, text_string(&note));
	text_done(&note);
}

int debugger_wait_ms(const struct debugger_watch *watch, const struct tree *tree, int wait_ms)
{
	const uint64_t now_ns = monotonic_ns();
	int due_ms = 0;

	if (tree->count == 0)
		return wait_ms;
	if (watch->next_look_ns > now_ns)
		due_ms = (int)((watch->next_look_ns - now_ns) / NS_PER_MS) + 1;
	return due_ms < wait_ms ? due_ms : wait_ms;
}

/* Whether anything in the tree has run since the last time. */
static bool debugger_tree_has_run(struct debugger_watch *watch, const struct tree *tree)
{
	if (watch->tree_counter_fd < 0 || tree->count <= FEW_PROCESSES)
		return true;
	const uint64_t tree_ns = perf_read_counter(watch->tree_counter_fd);
	const bool has_run = tree_ns != watch->tree_ns;

	watch->tree_ns = tree_ns;
	return has_run;
}

void debugger_look(struct debugger_watch *watch, struct tree *tree,
		   const struct pause_terms *terms)
{
	int clock_reads = 0, status_reads = 0;

	if (monotonic_ns() < watch->next_look_ns)
		return;
	if (debugger_tree_has_run(watch, tree) || watch->left > tree->count)
		watch->left = tree->count;
	while (watch->left > 0 && clock_reads < MAX_CLOCK_READS &&
	       status_reads < MAX_STATUS_READS) {
		status_reads +=
			debugger_look_at(tree->images[watch->turn++ % tree->count], terms);
		clock_reads++;
		watch->left--;
	}
	watch->next_look_ns = monotonic_ns() + LOOK_EVERY_NS;
}
