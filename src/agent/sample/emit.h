/*
 * emit - writes stacks and samples to the ring.
 */
#pragma once
#include "abi/types.h"

struct ring_header;
struct sample_time;
struct walk;

void emit_sample(struct ring_header *ring, const struct walk *walk,
		 const struct sample_time *time);
/* A sample during the program's pause: its time alone. */
void emit_paused(struct ring_header *ring, const struct sample_time *time);
/* Counts a sample for which there is no room: its time is lost. */
void emit_lost(struct ring_header *ring, const struct sample_time *time);
/* The rest of a thread's time at its end, on the function that it began with. */
void emit_end(struct ring_header *ring, const struct sample_time *time, u64 start_function);
