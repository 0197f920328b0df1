/*
 * frames - reads the Ruby stack of the calling thread, and makes the words of its frames.
 *
 * The innermost frame, if it is of Ruby code, may be executing an operation that has no frame
 * (walk/ruby_leaf.h).  Which one, and on which line, depends on where in the interpreter the thread
 * is: so it is chosen when that is known, and without reading the heap if both possible ones
 * were named before (interpreters/ruby/collector.h).
 */
#pragma once
#include <stdbool.h>

#include "agent/interpreters/ruby/scratch.h"
#include "walk/ruby_leaf.h"
#include "walk/ruby_walk.h"

struct mem;
struct walk;

/* How the innermost frame is to be read. */
enum ruby_top {
	RUBY_TOP_AS_IT_IS,
	RUBY_TOP_IN_HOOK, /* in a hook of the collector, which moves pc one word further */
};

/* Reads walk->ruby->frames; false: they could not be read to the outermost. */
bool ruby_frames_read(struct walk *walk, struct mem *mem, enum ruby_top top);
/* Makes both pairs of words (the leaf's and the frame's) from which one is chosen later. */
void ruby_frames_name_top(struct walk *walk, struct mem *mem);
/* Chooses one, and makes its words; false: the innermost frame's cannot be made. */
bool ruby_frames_choose(struct walk *walk, struct mem *mem, u64 core);
/* The same where both were made. */
bool ruby_frames_choose_named(const struct ruby_layout *layout, struct ruby_frames *frames,
			      u64 core);
