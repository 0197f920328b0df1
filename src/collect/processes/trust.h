/*
 * trust - how far what an image's agent claims is believed: as far as the kernel says that its
 * process can have burned it.
 *
 * An agent writes into memory that its program can write, too.  A figure that cannot be is
 * bounded or left out, and counted.  Where no agent can have written what is there (a head beyond
 * the ring, a header that has changed, far more CPU time than was burned), nothing from there is
 * believed any more: trust is lost, and the rest of the process's time is its own row.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;

/* What was written by now is about to be read. */
void trust_begin_round(struct image *image);
/* A figure cannot be. */
void trust_doubt(struct image *image);
/* Nothing is believed from now on. */
void trust_lose(struct image *image);
/* CPU time that the image can have burned by now, at the most.  Asks the kernel once a round. */
uint64_t trust_most_ns(struct image *image);
/* For how long it has been there, by the clock on the wall. */
uint64_t trust_life_ns(const struct image *image);
/*
 * How much of a weight is believed: all of it, or a period at the most if the image cannot have
 * burned as much as its samples claim together.
 */
uint64_t trust_bound_weight(struct image *image, uint64_t weight_ns);
/* A thread's CPU time; 0 if its process cannot have burned as much. */
uint64_t trust_bound_covered(struct image *image, uint64_t covered_ns);
/* A time of CLOCK_MONOTONIC, moved between these two if it lies outside of them. */
uint64_t trust_bound_time(struct image *image, uint64_t time_ns, uint64_t from_ns,
			  uint64_t to_ns);
/* The process's CPU time when sampling began, as its agent says. */
uint64_t trust_bound_start(struct image *image, uint64_t start_cpu_ns);
/* A count, of which each takes that long at least; 0 if there cannot be as many. */
uint64_t trust_bound_count(struct image *image, uint64_t count, uint64_t least_ns);
