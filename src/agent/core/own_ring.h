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
	struct ring_terms terms; /* of this ring, or the last one; written before header */
	bool has_timers;         /* timers trigger samples, from the start or by now */
	bool has_left;           /* the recorder has left: header is private memory now */
};
extern struct own_ring own_ring;
