/*
 * session_price - adds the context switches of processes to the cost of sampling, by the events
 * that they had at the time.
 */
#include "collect/session/state.h"

#include "collect/events/cpu_meter.h"
#include "collect/processes/image.h"
#include "collect/processes/ring_view.h"

/* A parent waits for the end of its child, and if the child executes a program for its exec. */
#define SWITCHES_OF_CHILD 2

enum switch_events session_switch_events(const struct session *session,
					 const struct image *image)
{
	const bool has_tree = session->ability.can_count && !session->switches.is_tree_closed;

	if (image->has_sampling_events)
		return has_tree ? SWITCH_SAMPLED_IN_TREE : SWITCH_SAMPLED;
	return has_tree ? SWITCH_IN_TREE : SWITCH_BARE;
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * For a running process of several threads: how much CPU time its events have missed so far, by
 * its clock.
 */
void session_look_at_missed(struct image *image)
{
	struct image_trigger *trigger = &image->trigger;

	if (!image->has_sampling_events || image->threads_seen < 2 ||
	    image->events.count == 0 || image->opened_cpu_ns == 0 || image->pause.causes != 0)
		return;
	const uint64_t switches = ring_view_switches(image);
	const uint64_t clock_ns = cpu_meter_process_ns(image->pid);
	const uint64_t known_ns =
		image->opened_cpu_ns + image_counted_ns(image) + image_paused_ns(image);

	if (clock_ns == 0)
		return;
	trigger->missed_ns = above(clock_ns, known_ns);
	trigger->missed_at = switches;
}

/* More switches of such a process: on average they miss as much as those before. */
static struct sibling_switches siblings_of(const struct image_trigger *trigger,
					   uint64_t switches)
{
	const double each_ns = (double)trigger->missed_ns / (double)trigger->missed_at;

	return (struct sibling_switches){ .count = switches,
					  .missed_ns = (uint64_t)(each_ns * (double)switches) };
}

/* Adds its switches since the last call, all with the events that it has now. */
void session_price_switches(struct session *session, struct image *image)
{
	struct image_trigger *trigger = &image->trigger;

	if (image->ring == NULL || image->calls != NULL || image->trust.is_lost)
		return;
	const enum switch_events events = session_switch_events(session, image);
	const uint64_t switches = above(ring_view_switches(image), trigger->priced);
	const uint64_t most =
		SWITCHES_OF_CHILD * above(trigger->children, trigger->priced_births);
	const uint64_t births = events != SWITCH_SAMPLED_IN_TREE ? 0
				: most < switches                ? most
								 : switches;

	sampling_cost_add_switches(&session->cost, SWITCH_OF_BIRTH, births);
	if (events == SWITCH_SAMPLED_IN_TREE && trigger->missed_at > 0) {
		const struct sibling_switches siblings =
			siblings_of(trigger, switches - births);

		sampling_cost_add_siblings(&session->cost, &siblings);
	} else {
		sampling_cost_add_switches(&session->cost, events, switches - births);
	}
	trigger->priced += switches;
	trigger->priced_births = trigger->children;
}

uint64_t session_switches_timer_samples(const struct image *image,
					const struct ring_costs *costs)
{
	if (image->trigger.state == IMAGE_TRIGGER_CHANGED)
		return above(costs->handler_samples, image->trigger.event_samples);
	return image->has_sampling_events ? 0 : costs->handler_samples;
}
