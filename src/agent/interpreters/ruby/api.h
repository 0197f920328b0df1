/*
 * api - checks our walk of a Ruby stack against the interpreter's own, once in each process.
 *
 * The first sample that finds a thread executing Ruby requests a postponed job, which handlers
 * may do.  The interpreter runs it on that thread, between two instructions of its own: outside
 * of handlers, with the GVL held.  There our walk is compared with Ruby's own
 * (rb_profile_frames()); if they agree, the collector's hooks are installed.  If not, the layout
 * is not this interpreter's, and no stack has Ruby frames from then on.
 *
 * What the program may notice: a structure of 56 bytes (rb_event_hook_t) from Ruby's allocator,
 * which counts in GC.stat(:malloc_increase_bytes); and, up to 3.2, slower allocation of objects
 * where the flag for that cannot be cleared (add_hook() in collector.c).  No object is made.
 */
#pragma once
#include <stdbool.h>

struct walk;

/*
 * Requests the job, at the end of a walk of one of Ruby's threads.  Up to 3.2, the caller must
 * hold the GVL: Ruby counts a job's slot before it fills it, and the thread that holds the GVL
 * may read it.
 */
void ruby_api_ask(const struct walk *walk, bool has_gvl);
/* In a child of fork: a job that was asked for and has not run is asked for again. */
void ruby_api_forget(void);
