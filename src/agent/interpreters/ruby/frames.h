/*
 * frames - the Ruby stack of the calling thread, as words.
 *
 * The innermost frame, if it is Ruby's own, may be doing something that has no frame
 * (walk/ruby_leaf.h).  What, and on which line, depends on where the machine is in the
 * interpreter: so it is chosen when that is known, and without a look at the heap where both
 * that it may be were named before (interpreters/ruby/collector.h).
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
	RUBY_TOP_IN_HOOK, /* in a hook of the collector, for which pc is put one word further */
};

/* Reads walk->ruby->frames; false: they could not be read to the outermost. */
bool ruby_frames_read(struct walk *walk, struct mem *mem, enum ruby_top top);
/* Makes both pairs of words that there are to choose from. */
void ruby_frames_name_top(struct walk *walk, struct mem *mem);
/* Chooses, and makes the words it needs; false: the innermost frame's cannot be made. */
bool ruby_frames_choose(struct walk *walk, struct mem *mem, u64 core);
/* The same where both were made. */
bool ruby_frames_choose_named(const struct ruby_layout *layout, struct ruby_frames *frames,
			      u64 core);
