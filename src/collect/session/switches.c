/*
 * session_switches - replaces perf events by CPU timers where they slow context switches too
 * much.
 *
 * With events on a thread its context switches take longer: the kernel stops and starts each
 * event, and for a sampling event programs the machine's timer, which in a virtual machine is
 * an exit to the host.  That slows a server that sleeps and wakes thousands of times a second.
 * So each process's switches are watched (switching.h); where they cost too much, its agent is
 * asked to arm timers of the threads' CPU clocks, which cost nothing at switches, and then its
 * events are closed.
 *
 * The events that the whole tree inherits cannot be removed from a single process: when the
 * first process is changed, the tree's counter and the sideband are closed, and the session
 * goes on as where perf events are refused, except that other processes keep their sampling
 * events.
 */
#include "collect/session/state.h"

#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "collect/events/cpu_meter.h"
#include "collect/processes/image.h"
#include "collect/processes/ring_view.h"
#include "collect/session/options.h"
#include "collect/processes/trust.h"
#include "record/writer.h"

#define MOST_RATE_HZ 1000
/* Longest time between rounds while an agent is to arm its timers, or a window is to end. */
#define ASKED_ROUND_MS  10
#define WINDOW_ROUND_MS 20
/* With more images, switches are checked in rounds only. */
#define GLANCE_IMAGES 64
/*
 * How often mappings that no event reports are read, in processes that generate code or are
 * sampled by copied stacks.
 */
#define MADE_CODE_NS (500 * NS_PER_MS)

/* Not with a higher rate: it was asked for to see more, which timers do not provide. */
static bool session_may_change(const struct session *session)
{
	return (session->options->rate_hz <= MOST_RATE_HZ || session->options->overhead > 0) &&
	       session->options->trigger == TRIGGER_AUTO &&
	       session->options->clock == CLOCK_KIND_CPU && !session->options->is_trace &&
	       session->ability.can_count;
}

/* Half of the overhead budget is for context switches. */
static uint32_t dear_permille(const struct session *session)
{
	const double half = 500 * session->options->overhead;

	return half <= 0 ? 0 : half < 1 ? 1 : (uint32_t)half;
}

/*
 * Checks a process's switches.  If they cost too much, returns how much of a processor it uses,
 * in thousandths.
 */
static uint32_t look_at(struct session *session, struct image *image, uint64_t now_ns)
{
	struct switching *switching = &image->trigger.switching;

	/* Thread creations may be missing: the kernel's ring may have been full. */
	if (session->events_dropped != session->switches.events_dropped)
		switching->has_gaps = true;
	const uint64_t switches = ring_view_switches(image), waits = ring_view_waits(image);

	if (now_ns - switching->time_ns >= SWITCHING_WINDOW_NS)
		switching_take(switching,
			       &(struct switching_look){
				       .time_ns = now_ns,
				       .cpu_ns = cpu_meter_process_ns(image->pid),
				       .waits = waits,
				       .preemptions = switches > waits ? switches - waits : 0,
				       .births = image->threads_seen + image->trigger.children,
				       .cost_ns = session_switches_most_cost_of(session, image),
				       .dear_permille = dear_permille(session),
			       });
	if (session->switches.is_measured)
		return switching->is_dear ? switching->busy : 0;
	/*
	 * They cost too much by the upper bound: the measurement runs while the next window
	 * passes.
	 */
	if (switching->dear_windows > 0 && !session->switches.is_measuring)
		session_switches_measure(session);
	return 0;
}

static bool may_change(const struct image *image)
{
	/*
	 * Threads that existed before an injected agent have no timer, and it does not see
	 * their ends.
	 */
	if (image->is_attached)
		return false;
	return image->state == IMAGE_ENTERED && !image->trust.is_lost && !image->is_ended &&
	       image->trigger.state == IMAGE_TRIGGER_FIRST && image->events.count > 0 &&
	       image->pause.causes == 0;
}

/* Closes the tree's events, after what they have reported so far is taken. */
static void close_tree_events(struct session *session, uint64_t now_ns)
{
	struct session_switches *switches = &session->switches;
	struct tree *tree = &session->tree;

	for (size_t i = 0; i < tree->count; i++) {
		session_price_switches(session, tree->images[i]);
		if (tree->images[i]->ring != NULL)
			ring_view_wish(tree->images[i], RING_WISH_IMAGES);
	}
	session_close_events(session);
	session->enter_terms.has_sideband = false;
	session->enter_terms.counts_unentered = false;
	switches->is_tree_closed = true;
	switches->closed_ns = now_ns;
	if (session->tree_counter_fd >= 0) {
		switches->counted_ns = perf_read_counter(session->tree_counter_fd);
		close(session->tree_counter_fd);
	}
	session->tree_counter_fd = session->debugger.tree_counter_fd = -1;
	for (size_t i = 0; i < tree->count; i++) {
		struct image *image = tree->images[i];
		const uint64_t clock_ns = cpu_meter_process_ns(image->pid);
		const uint64_t known_ns =
			image->opened_cpu_ns + image_counted_ns(image) + image_paused_ns(image);

		image->trigger.tree_ns = clock_ns;
		if (image_is_counted(image) && clock_ns > known_ns)
			switches->overhead_ns += clock_ns - known_ns;
		if (image->ring != NULL)
			tree_read_maps(tree, image, now_ns);
	}
}

static void note_change(struct session *session, const struct image *image, uint64_t now_ns)
{
	struct session_switches *switches = &session->switches;

	for (uint32_t i = 0; i < switches->group_count; i++) {
		if (strncmp(switches->groups[i].name, image->name, sizeof image->name) == 0) {
			switches->groups[i].others++;
			return;
		}
	}
	if (switches->group_count == SWITCHES_GROUPS) {
		switches->others++;
		return;
	}
	struct switches_group *group = &switches->groups[switches->group_count++];

	*group = (struct switches_group){ .pid = image->pid,
					  .time_ns = now_ns,
					  .before = image->trigger.switching };
	memcpy(group->name, image->name, sizeof group->name);
}

/*
 * A server's other workers are forked by the same parent: its later children begin by timers.
 */
static void mark_parent(const struct session *session, const struct image *image)
{
	const struct tree *tree = &session->tree;

	for (size_t i = 0; i < tree->count; i++) {
		struct image *parent = tree->images[i];

		if (parent->row == image->parent_row && parent->exe != NULL &&
		    (image->exe == NULL || strcmp(parent->exe, image->exe) == 0))
			parent->trigger.passes_timers = true;
	}
}

/* Closes its events: its timers are armed now, or sampled it from the start. */
static void change(struct session *session, struct image *image, uint64_t now_ns)
{
	struct image_trigger *trigger = &image->trigger;

	session_look_at_missed(image);
	session_price_switches(session, image);
	note_change(session, image, now_ns);
	trigger->event_samples =
		image->has_sampling_events ? ring_view_costs(image).handler_samples : 0;
	trigger->counted_ns = image_counted_ns(image);
	trigger->clock_from_ns = trigger->clock_ns = cpu_meter_process_ns(image->pid);
	trigger->paused_ns = image_paused_ns(image);
	trigger->state = IMAGE_TRIGGER_CHANGED;
	trigger->passes_timers = true;
	mark_parent(session, image);
	session->switches.is_tree_dear = true;
	image_stop_sampling(image);
	image->has_sampling_events = image->has_kernel_samples = false;
}

static void ask(struct session *session, struct image *image, uint64_t now_ns)
{
	if (!image->has_sampling_events) {
		change(session, image, now_ns);
		return;
	}
	image->trigger.state = IMAGE_TRIGGER_ASKED;
	ring_view_wish(image, RING_WISH_TIMERS);
}

static void look_at_answer(struct session *session, struct image *image, uint64_t now_ns)
{
	const uint32_t timers = ring_view_timers(image);

	if (image->trust.is_lost || timers == RING_TIMERS_NONE)
		return;
	if (timers == RING_TIMERS_ARMED) {
		change(session, image, now_ns);
		return;
	}
	image->trigger.state = IMAGE_TRIGGER_FAILED;
	session->switches.failed++;
}

/* Agents report no mappings of generated code, nor of processes without an agent. */
static void look_at_unmet_images(struct session *session, struct image *image)
{
	const uint64_t round_ns = session->pump.round_ns;

	const bool has_unmet =
		image->copied != NULL || (image->ring != NULL && image->jit_module != 0);

	if (session->sideband == NULL && has_unmet &&
	    round_ns > image->maps_interval.round_ns + MADE_CODE_NS)
		maps_interval_change(&image->maps_interval, round_ns,
				     image->maps_interval.round_ns != 0
					     ? image->maps_interval.round_ns
					     : round_ns);
}

/* Whether an idle process now switches often, and must be checked before the next round. */
static bool has_begun_to_switch(struct image *image, uint64_t now_ns)
{
	struct switching *switching = &image->trigger.switching;

	return may_change(image) && now_ns - switching->time_ns >= SWITCHING_WINDOW_NS &&
	       switching_begins(switching, ring_view_waits(image));
}

bool session_glance_at_switches(struct session *session)
{
	const struct tree *tree = &session->tree;
	const bool was_measuring = session->switches.is_measuring;
	const uint64_t now_ns = monotonic_ns();
	bool is_due = false;

	if (tree->count > GLANCE_IMAGES || !session_may_change(session) || session->is_broken)
		return false;
	session_switches_take_costs(session, false);
	for (size_t i = 0; i < tree->count; i++)
		is_due |= has_begun_to_switch(tree->images[i], now_ns);
	return is_due || (was_measuring && !session->switches.is_measuring);
}

void session_look_at_switches(struct session *session)
{
	const struct tree *tree = &session->tree;
	const uint64_t now_ns = monotonic_ns();
	uint32_t busy = 0;

	for (size_t i = 0; i < tree->count; i++)
		session_look_at_missed(tree->images[i]);
	if (!session_may_change(session) || session->is_broken)
		return;
	session_switches_take_costs(session, false);
	for (size_t i = 0; i < tree->count; i++) {
		struct image *image = tree->images[i];

		image_read_clock(image);
		if (session->switches.is_tree_closed)
			look_at_unmet_images(session, image);
		if (image->trigger.state == IMAGE_TRIGGER_ASKED)
			look_at_answer(session, image, now_ns);
		else if (may_change(image))
			busy += look_at(session, image, now_ns);
	}
	session->switches.events_dropped = session->events_dropped;
	for (size_t i = 0; i < tree->count && switching_is_felt(busy); i++) {
		struct image *image = tree->images[i];

		if (may_change(image) && image->trigger.switching.is_dear)
			ask(session, image, now_ns);
	}
	/* This may end images, so it comes after the loops. */
	if ((session->wall.is_on ? session->wall.is_dear : session->switches.is_tree_dear) &&
	    !session->switches.is_tree_closed && session->sideband != NULL)
		close_tree_events(session, now_ns);
}

int session_switches_wait_ms(const struct session *session, int wait_ms)
{
	const struct tree *tree = &session->tree;

	for (size_t i = 0; i < tree->count; i++) {
		const struct image_trigger *trigger = &tree->images[i]->trigger;

		if (trigger->state == IMAGE_TRIGGER_ASKED && wait_ms > ASKED_ROUND_MS)
			wait_ms = ASKED_ROUND_MS;
		else if (trigger->state == IMAGE_TRIGGER_FIRST &&
			 trigger->switching.dear_windows > 0 && !trigger->switching.is_dear &&
			 wait_ms > WINDOW_ROUND_MS)
			wait_ms = WINDOW_ROUND_MS;
	}
	return wait_ms;
}

void session_switches_end(struct session *session, struct image *image)
{
	struct image_trigger *trigger = &image->trigger;

	session_price_switches(session, image);
	image_read_clock(image);
	if (trigger->state != IMAGE_TRIGGER_CHANGED)
		return;
	/* If the process has ended, the CPU time in its ring is more recent. */
	const uint64_t end_ns = ring_view_end_cpu_ns(image);

	if (end_ns > trigger->clock_ns && end_ns <= image->opened_cpu_ns + trust_most_ns(image))
		trigger->clock_ns = end_ns;
}

void session_switches_account(struct session *session, const struct image *image)
{
	const uint64_t before_ns = image->trigger.tree_ns > image->cpu_before_ns
					   ? image->trigger.tree_ns
					   : image->cpu_before_ns;

	if (session->switches.is_tree_closed && image->cpu_ns > before_ns)
		session->switches.clocks_ns += image->cpu_ns - before_ns;
}

/*
 * wait(2) reports all CPU time, with switch costs that neither the tree's counter nor events
 * counted, but without processes that were not waited for.
 */
uint64_t session_switches_charged_ns(const struct session *session)
{
	const struct session_switches *switches = &session->switches;
	const uint64_t known_ns = switches->counted_ns + switches->clocks_ns;
	const uint64_t waited_ns = session->waited_ns > switches->overhead_ns
					   ? session->waited_ns - switches->overhead_ns
					   : 0;

	return waited_ns > known_ns ? waited_ns : known_ns;
}
