/*
 * names - words for Ruby's frames, and the reports of what they stand for.
 *
 * What is new in this epoch is sent at once; walk->is_lost if there is no room for it, since a
 * stack whose names are not known is not sent either.
 *
 * Words are kept from one walk to the next, by the addresses they were made of.  An address
 * becomes another object's only by a collection: what was not found to live by its marking is
 * freed after it.  So what was kept since the marking ended holds until the next one begins, and
 * while objects are marked nothing is kept.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct mem;
struct ruby_code;
struct ruby_frame;
struct ruby_leaf;
struct walk;

/* The key of a code, of which the recorder knows then; 0 if its names cannot be read. */
u64 ruby_name_code(struct walk *walk, struct mem *mem, const struct ruby_code *parts);
/* Before the first word of a walk: what is kept for this one. */
void ruby_names_begin(struct walk *walk, struct mem *mem);
/* The word of a frame; 0: it has no name, or cannot be read.  stands_at: as ruby_line_of(). */
u64 ruby_name_frame(struct walk *walk, struct mem *mem, const struct ruby_frame *frame,
		    bool stands_at);
/* The word of what a frame does without a frame of its own; 0: nothing that has a name. */
u64 ruby_name_leaf(struct walk *walk, struct mem *mem, const struct ruby_leaf *leaf);
/* The word of the collection of garbage that objspace_flags show. */
u64 ruby_name_collection(struct walk *walk, struct mem *mem, u32 objspace_flags);
