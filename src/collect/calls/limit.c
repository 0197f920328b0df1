#include "collect/calls/limit.h"

#include <string.h>

#include "abi/trace.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "collect/events/cpu_meter.h"
#include "collect/processes/image.h"
#include "collect/processes/known_calls.h"
#include "record/writer.h"

/* Calls are counted again once the overhead is below this part of the budget. */
#define AGAIN    0.8
#define NS_PER_S 1e9
/* Assumed for a call whose cost was not calibrated. */
#define USUAL_NS 50

bool trace_limit_is_passed(double share, double cost_ns, double cpu_ns, bool is_throttled)
{
	return cost_ns > share * (is_throttled ? AGAIN : 1) * cpu_ns;
}

static u64 load(const u64 *place)
{
	return __atomic_load_n(place, __ATOMIC_RELAXED);
}

/* The cost of a call of each kind, in ticks. */
static void read_costs(const struct trace_area *area, double usual_ticks,
		       double out_ticks[TRACE_KIND_COUNT])
{
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const struct trace_cost *cost = &area->costs[kind];
		const bool is_known = __atomic_load_n(&cost->is_known, __ATOMIC_ACQUIRE) != 0;
		const double ticks = ((double)cost->inside + cost->outside) / TRACE_COST_UNIT;

		out_ticks[kind] = is_known && ticks > 0 ? ticks : usual_ticks;
	}
}

/* The cost, in ticks, of the calls of a chunk's nodes since the last check. */
static double add_chunk(struct known_calls *known, uint32_t chunk,
			const double ticks[TRACE_KIND_COUNT])
{
	double sum = 0;

	for (uint32_t i = 0; i < TRACE_CHUNK_NODES; i++) {
		const uint32_t number = chunk * TRACE_CHUNK_NODES + i;
		const struct trace_node *node = &known->area->nodes[number];
		struct known_node *own = known_calls_node(known, number);
		const uint64_t calls = load(&node->calls);
		const u8 kind = __atomic_load_n(&node->kind, __ATOMIC_RELAXED);

		/*
		 * If the count fell, the node is another thread's by now, whose calls begin at
		 * 0.
		 */
		const uint64_t more = calls > own->priced ? calls - own->priced : 0;

		own->priced = calls;
		if (kind < TRACE_KIND_COUNT)
			sum += (double)more * ticks[kind];
	}
	return sum;
}

static void add_cost(struct known_calls *known, double usual_ticks)
{
	double ticks[TRACE_KIND_COUNT];

	read_costs(known->area, usual_ticks, ticks);
	for (uint32_t chunk = 1; chunk < TRACE_CHUNKS; chunk++) {
		if (__atomic_load_n(&known->area->owners[chunk], __ATOMIC_ACQUIRE) != 0)
			known->cost_ticks += add_chunk(known, chunk, ticks);
	}
}

static void throttle(struct image *image, bool is_throttled, uint64_t now_ns)
{
	struct trace_limit *limit = &image->calls->limit;

	if (is_throttled) {
		limit->since_ns = now_ns;
		limit->times++;
	} else {
		limit->throttled_ns += now_ns - limit->since_ns;
	}
	limit->is_throttled = is_throttled;
	__atomic_store_n(&image->calls->area->is_throttled, is_throttled, __ATOMIC_RELAXED);
}

void trace_limit_look(struct image *image, double share, double ns_per_tick)
{
	struct known_calls *known = image->calls;
	const uint64_t cpu_ns = cpu_meter_process_ns(image->pid);

	if (cpu_ns == 0 || !(ns_per_tick > 0))
		return;
	add_cost(known, USUAL_NS / ns_per_tick);
	const bool is_passed =
		trace_limit_is_passed(share, known->cost_ticks * ns_per_tick, (double)cpu_ns,
				      image->calls->limit.is_throttled);

	if (is_passed != image->calls->limit.is_throttled)
		throttle(image, is_passed, monotonic_ns());
}

void trace_limit_end(struct image *image, double share, uint64_t now_ns,
		     struct recording_writer *writer)
{
	struct trace_limit *limit = &image->calls->limit;
	struct text note = { 0 };

	if (limit->is_throttled) {
		limit->throttled_ns += now_ns - limit->since_ns;
		limit->is_throttled = false;
	}
	if (limit->times == 0)
		return;
	const double life_ns = (double)(now_ns - image->start_ns);
	const double off_ns = (double)limit->throttled_ns;
	const double traced_ns = life_ns > off_ns ? life_ns - off_ns : 0;

	text_add_printable(&note, image->name, strnlen(image->name, sizeof image->name));
	text_addf(&note,
		  " (pid %d): --overhead %g%% paused tracing %u time%s: traced %.2f of %.2f s "
		  "(%.0f %%); counts and times are of that part only",
		  (int)image->pid, 100 * share, limit->times, limit->times == 1 ? "" : "s",
		  traced_ns / NS_PER_S, life_ns / NS_PER_S, 100 * traced_ns / life_ns);
	recording_writer_note(writer, text_string(&note));
	text_done(&note);
}
