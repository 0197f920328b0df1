/*
 * collector - keeps the Ruby stack of a thread that collects garbage, by Ruby's event hooks.
 *
 * While a thread collects, objects are unlinked, freed and moved, and pages of them may be
 * protected: the heap is not read then.  The Ruby stack does not change meanwhile, so it is read
 * when a step of the collection begins (RUBY_INTERNAL_EVENT_GC_ENTER), on the thread that collects,
 * and kept until it ends (GC_EXIT).  One thread collects at a time: it holds the VM's lock.
 *
 * Reading costs the program time even if no sample is taken; so it has a budget.
 */
#pragma once
#include <stdbool.h>

#include "abi/ruby_layout.h"

struct ruby_frames;
struct ring_header;

/* On the interpreter's thread, outside of handlers: installs the hooks for good. */
void ruby_collector_install(const struct ruby_layout *layout);
bool ruby_collector_is_installed(void);
/* Whether it is the calling thread that collects, or compacts. */
bool ruby_collector_is_here(void);
/*
 * The frames that were read when the step began; NULL: they are not those of this context with this
 * innermost control frame, or the recorder, in another epoch by now, does not have their names.
 */
struct ruby_frames *ruby_collector_frames(u64 context, u64 frame, u64 epoch);
