/*
 * collector - collections of garbage, as Ruby's event hooks report them.
 *
 * While a thread collects, objects are unlinked, freed and moved, and pages of them may be
 * protected: nothing is read of the heap then.  The Ruby stack stands still meanwhile, so it is
 * read when a step of the collection begins (RUBY_INTERNAL_EVENT_GC_ENTER), on the thread that
 * collects, and kept until it ends (GC_EXIT).  One thread collects at a time: it holds the VM's
 * lock.
 *
 * Reading costs the program time, a sample or not; so it has a budget.
 */
#pragma once
#include <stdbool.h>

#include "abi/ruby_layout.h"

struct ruby_frames;
struct ring_header;

/*
 * On the interpreter's own thread, outside of handlers: has the hooks called from now on.  They
 * stay, in children of fork, too.
 */
void ruby_collector_install(const struct ruby_layout *layout);
bool ruby_collector_is_installed(void);
/* Whether it is the calling thread that collects, or compacts. */
bool ruby_collector_is_here(void);
/*
 * What was read when it began; NULL: that is not the stack of this context whose innermost
 * control frame is this one, or the recorder knows its words no more.
 */
struct ruby_frames *ruby_collector_frames(u64 context, u64 frame, u64 epoch);
