/*
 * pause - suspends the sampling of a process, and measures its CPU time meanwhile.
 *
 * A process is paused while a debugger traces it, since every trap would stop it in the
 * debugger; and when it asks for a pause itself (abi/handshake.h), until it ends that.  Its
 * events are off meanwhile, and a separate meter counts, so that the account stays complete.
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

/* Adds a cause: the first one switches the events off. */
void pause_begin(struct image *image, enum pause_cause cause, const struct pause_terms *terms);
/* Adds PAUSE_ASKED, with the process's reason. */
void pause_ask(struct image *image, uint32_t reason, const struct pause_terms *terms);
/* Removes a cause: with the last one the events are switched on. */
void pause_end(struct image *image, enum pause_cause cause);
/* Books the CPU time since the last call, and switches off the events of new threads, too. */
void pause_look(struct image *image);
