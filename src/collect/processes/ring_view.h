/*
 * ring_view - the recorder's access to a ring's header (abi/ring.h), which the target can
 * overwrite at any moment.
 *
 * Each figure is loaded once, into a variable of ours, and limited to what is possible
 * (trust.h) before it is returned.  No other file of src/collect may dereference image->ring,
 * except enter.c, which makes rings, and interpreter_kinds.c, which writes layouts into them
 * (tests/lint/layers.py).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/ring.h"
#include "collect/processes/image.h"

/* The ring has been made: remembers the fields that its agent must not change. */
void ring_view_begin(struct image *image);
/* Whether the fields that only the recorder writes are unchanged. */
bool ring_view_is_whole(const struct image *image);
/* How far records are reserved.  As the target can write it, it may be any number. */
uint64_t ring_view_head(const struct image *image);

/* Counts by the agent; impossible ones are 0. */
uint64_t ring_view_lost(struct image *image);
uint64_t ring_view_switches(struct image *image);
/* Switches because a thread waited, without preemptions. */
uint64_t ring_view_waits(struct image *image);
uint64_t ring_view_start_cpu_ns(struct image *image);
/*
 * CPU time at its last instruction, and of threads whose ends could not be sent: any numbers.
 */
uint64_t ring_view_end_cpu_ns(const struct image *image);
uint64_t ring_view_unsent_ns(const struct image *image);
/* CPU time of lost samples: any number. */
uint64_t ring_view_lost_ns(const struct image *image);

/* Where its agent keeps threads' regions (walk/regions.h): any number. */
uint64_t ring_view_regions(const struct image *image);

/* The cost of sampling, by the agent. */
struct ring_costs {
	uint64_t handler_ticks, handler_timed, handler_samples, early_traps;
	uint64_t handler_slow, handler_slow_ns; /* of handlers that took long */
	/* Of walks that were repeated at once; the second is at most the first. */
	uint64_t first_walk_ticks, second_walk_ticks;
	uint64_t start_ns; /* CPU time of its agent's start */
};
struct ring_costs ring_view_costs(struct image *image);

/*
 * How many walks of interpreters' stacks succeeded, and how many found the layout not to fit.
 */
struct ring_walks {
	uint64_t python, python_refusals, ruby, ruby_refusals;
	uint32_t ruby_check; /* enum ring_ruby_check */
};
struct ring_walks ring_view_walks(const struct image *image);
/* The version in its layout (0x030b02f0), or any number. */
uint32_t ring_view_python_version(const struct image *image);

/* Releases what was read, up to image->ring_tail, to the writers (ring_memory.h). */
void ring_view_give_back(struct image *image);
/* Figures that the recorder sets for the agent. */
void ring_view_set_epoch(struct image *image, uint64_t epoch);
void ring_view_set_switch_cost(struct image *image, uint64_t cost_ns);
/* The threads on which image->short_threads has an event. */
void ring_view_set_unshared(struct image *image);
/* Whether its children's agents delay their handshakes (storms.h). */
void ring_view_set_delayed_handshakes(const struct image *image, bool is_delayed);
/* The same for children that execute a program of image->brief_programs; is_none: for none. */
void ring_view_set_brief_programs(const struct image *image, bool is_none);
void ring_view_add_pause(struct image *image);
/* Adds a request to the agent: enum ring_wishes. */
void ring_view_wish(struct image *image, uint32_t wish);
/* The agent's answer to RING_WISH_TIMERS: enum ring_timers, or any number. */
uint32_t ring_view_timers(const struct image *image);

/* The record at a position before mark, as ring_peek() gives it. */
static inline uint64_t ring_view_peek(const struct image *image, uint64_t position,
				      uint64_t mark, uint64_t *words, uint64_t max)
{
	return ring_peek(ring_words(image->ring), image->ring_words, position, mark, words,
			 max);
}
