#include "collect/processes/ring_view.h"

#include <string.h>

#include "collect/processes/ring_memory.h"
#include "collect/processes/trust.h"

/* Every handler and switch takes longer than this, in CPU time of its thread. */
#define LEAST_HANDLER_NS 100
#define LEAST_SWITCH_NS  50
/* No machine's counter has more ticks in a nanosecond. */
#define MOST_TICKS 16
/* Handlers that may run at the same time, on as many processors. */
#define MOST_AT_ONCE 256

static uint64_t load(const u64 *figure)
{
	return __atomic_load_n(figure, __ATOMIC_RELAXED);
}

static struct ring_fixed fixed_of(const struct ring_header *ring)
{
	return (struct ring_fixed){
		.magic = load(&ring->magic),
		.version = __atomic_load_n(&ring->version, __ATOMIC_RELAXED),
		.flags = __atomic_load_n(&ring->flags, __ATOMIC_RELAXED),
		.word_count = load(&ring->word_count),
		.period_ns = load(&ring->period_ns),
		.trace_offset = load(&ring->trace_offset),
		.bytes = load(&ring->bytes),
	};
}

void ring_view_begin(struct image *image)
{
	image->ring_fixed = fixed_of(image->ring);
	image->switch_cost_ns = load(&image->ring->switch_cost_ns);
}

bool ring_view_is_whole(const struct image *image)
{
	const struct ring_fixed fixed = fixed_of(image->ring);
	const struct ring_fixed *made = &image->ring_fixed;

	return fixed.magic == made->magic && fixed.version == made->version &&
	       fixed.flags == made->flags && fixed.word_count == made->word_count &&
	       fixed.period_ns == made->period_ns && fixed.trace_offset == made->trace_offset &&
	       fixed.bytes == made->bytes && load(&image->ring->tail) == image->ring_free;
}

uint64_t ring_view_head(const struct image *image)
{
	return __atomic_load_n(&image->ring->head, __ATOMIC_ACQUIRE);
}

uint64_t ring_view_lost(struct image *image)
{
	/* One sample is due in each period; timers may expire twice in one. */
	return trust_bound_count(image, load(&image->ring->lost_samples),
				 image->period_ns / 2 + 1);
}

uint64_t ring_view_switches(struct image *image)
{
	return trust_bound_count(image, load(&image->ring->switches), LEAST_SWITCH_NS);
}

uint64_t ring_view_waits(struct image *image)
{
	return trust_bound_count(image, load(&image->ring->waits), LEAST_SWITCH_NS);
}

uint64_t ring_view_start_cpu_ns(struct image *image)
{
	return trust_bound_start(image, load(&image->ring->start_cpu_ns));
}

uint64_t ring_view_regions(const struct image *image)
{
	return load(&image->ring->regions_address);
}

uint64_t ring_view_end_cpu_ns(const struct image *image)
{
	return load(&image->ring->end_cpu_ns);
}

uint64_t ring_view_unsent_ns(const struct image *image)
{
	return load(&image->ring->unsent_ns);
}

uint64_t ring_view_lost_ns(const struct image *image)
{
	return load(&image->ring->lost_ns);
}

struct ring_costs ring_view_costs(struct image *image)
{
	const struct ring_header *ring = image->ring;
	struct ring_costs costs = {
		.handler_timed = load(&ring->handler_timed),
		.handler_ticks = load(&ring->handler_ticks),
		.handler_samples = trust_bound_count(image, load(&ring->handler_samples),
						     LEAST_HANDLER_NS),
		.early_traps =
			trust_bound_count(image, load(&ring->early_traps), LEAST_HANDLER_NS),
		.handler_slow = load(&ring->handler_slow),
		.handler_slow_ns = load(&ring->handler_slow_ns),
		.first_walk_ticks = load(&ring->first_walk_ticks),
		.second_walk_ticks = load(&ring->second_walk_ticks),
		.start_ns = load(&ring->start_ns),
	};

	/* A handler may be preempted, but not for longer than its program has run. */
	if (costs.handler_timed == 0 || costs.handler_timed > costs.handler_samples ||
	    costs.handler_ticks / MOST_TICKS > trust_life_ns(image))
		costs.handler_timed = costs.handler_ticks = 0;
	if (costs.handler_slow > costs.handler_samples ||
	    costs.handler_slow_ns / MOST_AT_ONCE > trust_life_ns(image))
		costs.handler_slow = costs.handler_slow_ns = 0;
	if (costs.first_walk_ticks > costs.handler_ticks ||
	    costs.second_walk_ticks > costs.first_walk_ticks)
		costs.first_walk_ticks = costs.second_walk_ticks = 0;
	if (costs.start_ns > trust_life_ns(image))
		costs.start_ns = 0;
	return costs;
}

struct ring_walks ring_view_walks(const struct image *image)
{
	const struct ring_header *ring = image->ring;

	return (struct ring_walks){
		.python = load(&ring->python_walks),
		.python_refusals = load(&ring->python_refusals),
		.ruby = load(&ring->ruby_walks),
		.ruby_refusals = load(&ring->ruby_refusals),
		.ruby_check = __atomic_load_n(&ring->ruby_check, __ATOMIC_RELAXED),
	};
}

uint32_t ring_view_python_version(const struct image *image)
{
	return __atomic_load_n(&image->ring->python.version, __ATOMIC_RELAXED);
}

void ring_view_give_back(struct image *image)
{
	image->ring_free = ring_memory_give_back(image->ring, image->ring_words,
						 image->ring_free, image->ring_tail);
	/* Pairs with the acquire in ring_reserve(). */
	__atomic_store_n(&image->ring->tail, image->ring_free, __ATOMIC_RELEASE);
}

void ring_view_set_epoch(struct image *image, uint64_t epoch)
{
	__atomic_store_n(&image->ring->epoch, epoch, __ATOMIC_RELAXED);
}

void ring_view_set_delayed_handshakes(const struct image *image, bool is_delayed)
{
	__atomic_store_n(&image->ring->delayed_handshakes, is_delayed, __ATOMIC_RELAXED);
}

void ring_view_set_brief_programs(const struct image *image, bool is_none)
{
	struct ring_program programs[RING_BRIEF_PROGRAMS] = { 0 };

	if (!is_none)
		brief_programs_list(&image->brief_programs, programs);
	for (size_t i = 0; i < RING_BRIEF_PROGRAMS; i++) {
		struct ring_program *program = &image->ring->brief_programs[i];

		__atomic_store_n(&program->inode, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&program->device, programs[i].device, __ATOMIC_RELEASE);
		__atomic_store_n(&program->inode, programs[i].inode, __ATOMIC_RELEASE);
	}
}

void ring_view_set_switch_cost(struct image *image, uint64_t cost_ns)
{
	image->switch_cost_ns = cost_ns;
	__atomic_store_n(&image->ring->switch_cost_ns, cost_ns, __ATOMIC_RELAXED);
}

void ring_view_set_unshared(struct image *image)
{
	const struct short_threads *threads = &image->short_threads;

	if (image->ring == NULL)
		return;
	for (size_t i = 0; i < threads->count; i++)
		__atomic_store_n(&image->ring->unshared_tids[i],
				 short_threads_event_tid(threads, i), __ATOMIC_RELAXED);
}

void ring_view_add_pause(struct image *image)
{
	__atomic_fetch_add(&image->ring->pauses, 1, __ATOMIC_RELAXED);
}

void ring_view_wish(struct image *image, uint32_t wish)
{
	__atomic_fetch_or(&image->ring->wishes, wish, __ATOMIC_RELAXED);
}

uint32_t ring_view_timers(const struct image *image)
{
	/* Pairs with the release in the agent's timers_look(). */
	return __atomic_load_n(&image->ring->timers, __ATOMIC_ACQUIRE);
}
