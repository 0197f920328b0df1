#include "collect/processes/pause.h"

#include "abi/handshake.h"
#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/processes/ring_view.h"

static uint64_t *pause_figure(struct pause *pause)
{
	if ((pause->causes & PAUSE_DEBUGGER) || pause->reason == HANDSHAKE_DEBUGGER)
		return &pause->traced_ns;
	/* Unless the exec fails, these are the image's last instructions. */
	if (handshake_is_exec(pause->reason))
		return &pause->exit_ns;
	return &pause->unentered_ns;
}

static void pause_book(struct pause *pause)
{
	const uint64_t burned_ns = cpu_meter_read(&pause->meter);

	*pause_figure(pause) += burned_ns - pause->booked_ns;
	pause->booked_ns = burned_ns;
}

/* Informs the agent.  Pairs with the loads in its clock.c and timers.c. */
static void pause_set_agent(struct image *image)
{
	if (image->ring != NULL)
		ring_view_add_pause(image);
}

void pause_begin(struct image *image, enum pause_cause cause, const struct pause_terms *terms)
{
	struct pause *pause = &image->pause;

	if (pause->causes != 0) {
		pause_book(pause);
		pause->causes |= cause;
		return;
	}
	thread_events_switch(&image->events, false);
	cpu_meter_begin(&pause->meter, image->pid, terms->has_counters, terms->is_user_clock);
	pause->booked_ns = 0;
	pause->causes = cause;
	pause_set_agent(image);
}

void pause_ask(struct image *image, uint32_t reason, const struct pause_terms *terms)
{
	pause_begin(image, PAUSE_ASKED, terms);
	image->pause.reason = reason;
	image->pause.asked_ns = monotonic_ns();
}

void pause_end(struct image *image, enum pause_cause cause)
{
	struct pause *pause = &image->pause;

	if (!(pause->causes & cause))
		return;
	pause_book(pause);
	pause->causes &= ~(uint32_t)cause;
	if (pause->causes != 0)
		return;
	cpu_meter_end(&pause->meter);
	pause_set_agent(image);
	thread_events_switch(&image->events, true);
}

void pause_look(struct image *image)
{
	if (image->pause.causes == 0)
		return;
	thread_events_switch(&image->events, false);
	pause_book(&image->pause);
}
