/*
 * ring_view - the recorder's side of a ring's header (abi/ring.h), which the target can write at
 * any moment.
 *
 * Each figure is loaded once, into a variable of ours, and bounded by what can be (trust.h) before
 * it is handed out.  No other file of this room may follow image->ring, but for enter.c, which
 * makes rings, and interpreter_kinds.c, which writes layouts into them: tests/lint/layers.py.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/ring.h"
#include "collect/processes/image.h"

/* The ring has been made: what its agent is not to change is remembered. */
void ring_view_begin(struct image *image);
/* Whether what the recorder has written into the header is as it wrote it. */
bool ring_view_is_whole(const struct image *image);
/* How far records are reserved: any number. */
uint64_t ring_view_head(const struct image *image);

/* What is counted there; what cannot be is 0. */
uint64_t ring_view_lost(struct image *image);
uint64_t ring_view_switches(struct image *image);
/* Those since a thread waited, and not since another one ran in its place. */
uint64_t ring_view_waits(struct image *image);
uint64_t ring_view_start_cpu_ns(struct image *image);
/* At its last instruction, and of threads whose ends could not be sent: any numbers. */
uint64_t ring_view_end_cpu_ns(const struct image *image);
uint64_t ring_view_unsent_ns(const struct image *image);
/* What lost samples stood for: any number. */
uint64_t ring_view_lost_ns(const struct image *image);

/* Where its agent keeps threads' regions (walk/regions.h): any number. */
uint64_t ring_view_regions(const struct image *image);

/* What sampling cost. */
struct ring_costs {
	uint64_t handler_ticks, handler_timed, handler_samples, early_traps;
	uint64_t handler_slow, handler_slow_ns; /* those that took long, by CPU time */
	uint64_t start_ns;                      /* CPU time of its agent's start */
};
struct ring_costs ring_view_costs(struct image *image);

/* What walks found of the interpreters' layouts. */
struct ring_walks {
	uint64_t python, python_refusals, ruby, ruby_refusals;
	uint32_t ruby_check; /* enum ring_ruby_check */
};
struct ring_walks ring_view_walks(const struct image *image);
/* As in its layout, 0x030b02f0; any number. */
uint32_t ring_view_python_version(const struct image *image);

/* What was read, up to image->ring_tail, may be written again (ring_memory.h). */
void ring_view_give_back(struct image *image);
/* Figures of the recorder's own, for the agent. */
void ring_view_set_epoch(struct image *image, uint64_t epoch);
void ring_view_set_switch_cost(struct image *image, uint64_t cost_ns);
/* Of which threads image->short_threads has an event open. */
void ring_view_set_unshared(struct image *image);
/* Whether its children are to say hello late. */
void ring_view_set_late_hellos(const struct image *image, bool is_late);
/* Those that execute what image->brief_programs lists are to; is_none: none are. */
void ring_view_set_brief_programs(const struct image *image, bool is_none);
void ring_view_add_pause(struct image *image);
/* Asks the agent for one more thing: enum ring_wishes. */
void ring_view_wish(struct image *image, uint32_t wish);
/* What came of RING_WISH_TIMERS: enum ring_timers, or any number. */
uint32_t ring_view_timers(const struct image *image);

/* The record at a position before mark, as ring_peek() gives it. */
static inline uint64_t ring_view_peek(const struct image *image, uint64_t position,
				      uint64_t mark, uint64_t *words, uint64_t max)
{
	return ring_peek(ring_words(image->ring), image->ring_words, position, mark, words,
			 max);
}
