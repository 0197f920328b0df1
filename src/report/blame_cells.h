/* blame_cells - the cells of the report on what made threads wait. */
#pragma once
#include <stddef.h>

#include "profile/ids.h"
#include "profile/profile.h"

struct blame_pair;
struct grid;
struct profile;
struct text;
struct thread_kinds;

/*
 * Adds "Lock at app.py:13", "the GIL", "mutex stats_lock", from the system call at the stack's
 * leaf.
 */
void blame_add_object(struct grid *grid, const struct profile *profile, enum thread_state state,
		      struct stack_id stack);
/* Adds "worker-1 (1203)", or for several threads "worker-N ×5"; kinds may be NULL. */
void blame_add_thread(struct grid *grid, const struct profile *profile,
		      const struct thread_kinds *kinds, struct thread_id thread, size_t count);
/* Adds "handle app.py:14". */
void blame_add_frame(struct text *out, const struct profile *profile, struct frame_id frame);
/* Adds "main → run → crunch app.py:12", without its outer end where it is too wide. */
void blame_add_chain(struct text *out, const struct profile *profile, struct stack_id id,
		     size_t width);
/* Why the owner of what a thread with that stack waited for is unknown. */
const char *blame_why_unowned(const struct profile *profile, const struct blame_pair *pair);
