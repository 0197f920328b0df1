/*
 * api - what the agent asks of the interpreter itself, once in each process.
 *
 * The first sample that finds a thread executing Ruby asks for a postponed job, which may be
 * done in a handler.  The interpreter runs it on that thread, between two instructions of its
 * own: outside of handlers, with the GVL held.  There our walk is held against Ruby's own
 * (rb_profile_frames()); if it says the same, the collector's hooks are set up.  If not, the
 * layout is not this interpreter's, and no stack has Ruby frames from then on.
 *
 * What the program may notice: a structure of 56 bytes (rb_event_hook_t) from Ruby's allocator,
 * which counts in GC.stat(:malloc_increase_bytes); and, up to 3.2, that objects are allocated
 * by the way that is taken while a tool traces.  No object is made.
 */
#pragma once
#include <stdbool.h>

struct walk;

/*
 * At the end of a walk of one of Ruby's threads.  Up to 3.2, the caller must have the GVL: a job's
 * place is counted before it is filled, and the thread that has the GVL may be looking.
 */
void ruby_api_ask(const struct walk *walk, bool has_gvl);
/* In a child of fork: a job that was asked for and has not run is asked for again. */
void ruby_api_forget(void);
