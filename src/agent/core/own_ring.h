/*
 * own_ring - the ring that this process writes to, and the terms it was given with (handshake.h).
 */
#pragma once
#include <stdbool.h>

#include "abi/ring_terms.h"

struct ring_header;

struct own_ring {
	/* NULL: not sampling.  Mapped once for each process image or forked child. */
	struct ring_header *header;
	struct ring_terms terms; /* of the ring that is there, or was: written before it */
	bool has_timers;         /* threads' timers trigger samples, from the start or by now */
	bool has_left;           /* it is memory of the process's own: its recorder has gone */
};
extern struct own_ring own_ring;
