/*
 * trust - checks the figures of an image's agent, chiefly against the CPU time that the kernel
 * has counted for the process.
 *
 * An agent writes into memory that its program can write, too.  An impossible figure is limited
 * or left out, and counted.  If no agent can have written what is found (a head beyond the
 * ring, a changed header, far more CPU time than was used), nothing more is read from there:
 * trust is lost, and the remaining time of the process gets its own row.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;

/* Called before a round reads the ring: CPU time is read anew. */
void trust_begin_round(struct image *image);
/* Counts an impossible figure. */
void trust_doubt(struct image *image);
/* Gives up trust: nothing is read from the ring from now on. */
void trust_lose(struct image *image);
/*
 * The most CPU time that the image can have used since its events were opened.  Asks the kernel
 * once a round.
 */
uint64_t trust_most_ns(struct image *image);
/* Wall time since the image began. */
uint64_t trust_life_ns(const struct image *image);
/*
 * A sample's weight; limited to a period if the image cannot have used as much CPU time as its
 * samples claim together.
 */
uint64_t trust_bound_weight(struct image *image, uint64_t weight_ns);
/* A thread's CPU time; 0 if its process cannot have used as much. */
uint64_t trust_bound_covered(struct image *image, uint64_t covered_ns);
/* A time of CLOCK_MONOTONIC, limited to the range from_ns to to_ns. */
uint64_t trust_bound_time(struct image *image, uint64_t time_ns, uint64_t from_ns,
			  uint64_t to_ns);
/* The process's CPU time when sampling began, as its agent reports it; limited. */
uint64_t trust_bound_start(struct image *image, uint64_t start_cpu_ns);
/* A count of things that take at least least_ns each; 0 if there cannot be as many. */
uint64_t trust_bound_count(struct image *image, uint64_t count, uint64_t least_ns);
