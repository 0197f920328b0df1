/*
 * blame_cells - what stands in the columns of a report of what made threads wait.
 */
#pragma once
#include <stddef.h>

#include "profile/ids.h"
#include "profile/profile.h"

struct blame_pair;
struct grid;
struct profile;
struct text;
struct thread_kinds;

/* "Lock at app.py:13", "the GIL", "mutex stats_lock": of the call that is a stack's leaf. */
void blame_add_object(struct grid *grid, const struct profile *profile, enum thread_state state,
		      struct stack_id stack);
/* "worker-1 (1203)", or of several "worker-N ×5"; kinds may be NULL. */
void blame_add_thread(struct grid *grid, const struct profile *profile,
		      const struct thread_kinds *kinds, struct thread_id thread, size_t count);
/* "handle app.py:14" */
void blame_add_frame(struct text *out, const struct profile *profile, struct frame_id frame);
/* "main → run → crunch app.py:12", its outer end cut off where it is too wide. */
void blame_add_chain(struct text *out, const struct profile *profile, struct stack_id id,
		     size_t width);
/* Why no owner of what a thread with that stack waited for is known. */
const char *blame_why_unowned(const struct profile *profile, const struct blame_pair *pair);
