/*
 * session_overhead - keeps sampling within a budget (--overhead): adapts each process's rate to
 * what its samples cost.
 */
#include "collect/session/state.h"

#include <inttypes.h>
#include <string.h>

#include "abi/ticks.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "collect/processes/image.h"
#include "collect/processes/ring_view.h"
#include "collect/session/options.h"
#include "collect/costs/trigger_cost.h"
#include "record/writer.h"

/* Assumed cost of a trap that cannot be measured: that on a virtual machine. */
#define TRAP_NS 12000
/*
 * Assumed cost of a handler before any has run: first ones find unwind rules and fault pages
 * in.  So a process begins at a low rate, which rises as soon as handlers turn out to be quick.
 */
#define HANDLER_NS 100000
/* Period with which the trap is measured before the rate is known. */
#define FIRST_PERIOD_NS 1000000
#define NS_PER_S        1e9

static uint64_t measure_trap(bool is_user_mode_only)
{
	/* As for the longest recording: the rate that is chosen by it may have to last. */
	return trigger_costs_measure(&(struct trigger_costs_terms){
					     .period_ns = FIRST_PERIOD_NS,
					     .event_samples = UINT64_MAX,
					     .is_user_mode_only = is_user_mode_only,
				     })
		.event_ns;
}

uint32_t session_overhead_begin(struct session_overhead *overhead, double share)
{
	uint64_t trap_ns = measure_trap(false);

	if (trap_ns == 0)
		trap_ns = measure_trap(true);
	overhead->terms = (struct overhead_terms){
		.share = share,
		.trap_ns = trap_ns != 0 ? trap_ns : TRAP_NS,
		.handler_ns = HANDLER_NS,
	};
	return overhead_first_rate(&overhead->terms);
}

static uint32_t rate_of(const struct image *image, unsigned int rung)
{
	return (uint32_t)(NS_PER_S / (double)(image->period_ns << rung) + 0.5);
}

/* CPU time of all handlers, in ns: of slow ones, as the first ones are, by the agent's figure. */
static uint64_t handler_ns_of(const struct session *session, const struct ring_costs *costs)
{
	const double ns = (double)(monotonic_ns() - session->start_ns);
	const double ticks = (double)(ticks_now() - session->start_ticks);
	const double others_ns =
		ticks > 0 ? sampling_cost_handler_ticks(costs) * ns / ticks : 0;

	return (uint64_t)others_ns + costs->handler_slow_ns;
}

static void note_rate(struct session_overhead *overhead, uint32_t hz)
{
	if (overhead->least_hz == 0 || hz < overhead->least_hz)
		overhead->least_hz = hz;
	if (hz > overhead->most_hz)
		overhead->most_hz = hz;
}

static void step(struct session *session, struct image *image, unsigned int rung)
{
	struct session_overhead *overhead = &session->overhead;
	const uint32_t from_hz = rate_of(image, image->events.rung);

	thread_events_step(&image->events, rung, image->pause.causes != 0);
	note_rate(overhead, rate_of(image, rung));
	if (overhead->change_count == OVERHEAD_CHANGES) {
		overhead->others++;
		return;
	}
	struct overhead_change *change = &overhead->changes[overhead->change_count++];

	*change = (struct overhead_change){ .pid = image->pid,
					    .time_ns = monotonic_ns() - session->start_ns,
					    .from_hz = from_hz,
					    .to_hz = rate_of(image, rung) };
	strncpy(change->name, image->name, sizeof change->name - 1);
}

/*
 * Learns the cost of a handler from all processes, for later ones.  Brief processes count from
 * their start: their handlers are the first, which find unwind rules and fault pages in.
 */
static void learn(struct session_overhead *overhead, const struct overhead_look *from,
		  const struct overhead_look *to)
{
	if (to->samples <= from->samples || to->handler_ns <= from->handler_ns)
		return;
	overhead->samples += to->samples - from->samples;
	overhead->handler_ns += to->handler_ns - from->handler_ns;
	overhead->terms.handler_ns = overhead->handler_ns / overhead->samples;
}

static struct overhead_look look_of(const struct session *session, struct image *image)
{
	const struct ring_costs costs = ring_view_costs(image);

	return (struct overhead_look){
		.time_ns = monotonic_ns(),
		.cpu_ns = image_counted_ns(image),
		.samples = costs.handler_samples,
		.handler_ns = handler_ns_of(session, &costs),
		.switches_ns =
			ring_view_switches(image) * session_switches_cost_of(session, image),
		.start_ns = costs.start_ns,
	};
}

static void look_at(struct session *session, struct image *image)
{
	struct session_overhead *overhead = &session->overhead;
	const struct overhead_look begin = image->overhead.begin;
	const struct overhead_look look = look_of(session, image);
	const bool is_first = !image->overhead.is_begun;
	unsigned int rung;
	double share;

	if (is_first)
		note_rate(overhead, rate_of(image, image->events.rung));
	if (!overhead_take(&image->overhead, &look, &overhead->terms, image->events.rung, &rung,
			   &share))
		return;
	learn(overhead, &begin, &look);
	if (rung != image->events.rung)
		step(session, image, rung);
	else if (share > overhead->terms.share && rung + 1 == image->events.rungs)
		overhead->above++;
}

void session_look_at_overhead(struct session *session)
{
	const struct tree *tree = &session->tree;

	if (session->enter_terms.overhead == NULL || session->is_broken)
		return;
	for (size_t i = 0; i < tree->count; i++) {
		struct image *image = tree->images[i];

		if (image->state == IMAGE_ENTERED && image->events.rungs > 0 &&
		    !image->trust.is_lost && !image->is_ended)
			look_at(session, image);
	}
}

void session_overhead_end(struct session *session, struct image *image)
{
	if (session->enter_terms.overhead == NULL || !image->has_sampling_events ||
	    image->events.rungs == 0)
		return;
	const struct overhead_look end = look_of(session, image);

	note_rate(&session->overhead, rate_of(image, image->events.rung));
	learn(&session->overhead, &image->overhead.begin, &end);
}

static void add_change(struct text *note, const struct overhead_change *change)
{
	text_add(note, "; ");
	text_add_printable(note, change->name, strlen(change->name));
	text_addf(note, " (pid %d) %" PRIu32 " to %" PRIu32 " a second from %.1f s on",
		  change->pid, change->from_hz, change->to_hz,
		  (double)change->time_ns / NS_PER_S);
}

static void add_rates(struct text *note, const struct session_overhead *overhead)
{
	text_addf(note, "--overhead %g%%: %" PRIu32, 100 * overhead->terms.share,
		  overhead->least_hz);
	if (overhead->most_hz > overhead->least_hz)
		text_addf(note, " to %" PRIu32, overhead->most_hz);
	text_addf(note,
		  " samples in a second of CPU time, by what they cost (a trap %.1f µs, its "
		  "handler %.1f µs)",
		  (double)overhead->terms.trap_ns / 1e3,
		  (double)overhead->terms.handler_ns / 1e3);
}

void session_overhead_note(struct session *session)
{
	const struct session_overhead *overhead = &session->overhead;
	struct text note = { 0 };

	if (overhead->terms.share <= 0)
		return;
	if (overhead->most_hz == 0)
		text_addf(&note,
			  "--overhead %g%%: no perf event samples here, so the rate cannot "
			  "be adapted; %" PRIu32 " samples a second were asked for",
			  100 * overhead->terms.share, session->options->rate_hz);
	else
		add_rates(&note, overhead);
	for (uint32_t i = 0; i < overhead->change_count; i++)
		add_change(&note, &overhead->changes[i]);
	if (overhead->others > 0)
		text_addf(&note, "; %" PRIu32 " more changes", overhead->others);
	if (overhead->above > 0)
		text_add(&note, "; at the lowest rate it took more than the budget");
	recording_writer_note(session->writer, text_string(&note));
	text_done(&note);
}
