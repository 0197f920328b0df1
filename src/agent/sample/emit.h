/*
 * emit - stacks and samples into the ring.
 */
#pragma once
#include "abi/types.h"

struct ring_header;
struct sample_time;
struct walk;

void emit_sample(struct ring_header *ring, const struct walk *walk,
		 const struct sample_time *time);
/* The time of a sample that is not wanted. */
void emit_paused(struct ring_header *ring, const struct sample_time *time);
/* No place for a sample: its time is lost. */
void emit_lost(struct ring_header *ring, const struct sample_time *time);
/* The time of a thread that ends, on the function it began with. */
void emit_end(struct ring_header *ring, const struct sample_time *time, u64 start_function);
