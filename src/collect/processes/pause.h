/*
 * pause - a process that is not sampled for a while, and the time it burns meanwhile.
 *
 * While a debugger traces it, since every trap would stop it there; and from when the process
 * itself asks for it (abi/handshake.h) until it says that it may go on.  Its events are off
 * then, and a meter of its own counts, so that the account stays whole.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;

enum pause_cause {
	PAUSE_DEBUGGER = 1,
	PAUSE_ASKED = 2,
};

struct pause_terms {
	bool has_counters;
	bool is_user_clock;
};

/* One more cause: with the first, the events go off. */
void pause_begin(struct image *image, enum pause_cause cause, const struct pause_terms *terms);
/* PAUSE_ASKED, with the process's reason. */
void pause_ask(struct image *image, uint32_t reason, const struct pause_terms *terms);
/* One cause less: with the last, they go on. */
void pause_end(struct image *image, enum pause_cause cause);
/* Books what was burned since the last time, and sees to it that no event is on. */
void pause_look(struct image *image);
