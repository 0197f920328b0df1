/*
 * names - makes the words of Ruby's frames, and sends the recorder the names they stand for.
 *
 * A name that is new in this epoch is sent at once; walk->is_lost is set if there is no room for
 * it, since a stack without its names is not sent either.
 *
 * Words are kept from one walk to the next, by the addresses of the objects that they were made
 * of.  An address becomes another object's only by a collection, which frees unmarked objects
 * after its marking.  So a word that was made since a marking ended is valid until the next one
 * begins, and during a marking nothing is kept.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct mem;
struct ruby_code;
struct ruby_frame;
struct ruby_leaf;
struct walk;

/* The key of a code, whose names are sent if they are new; 0 if they cannot be read. */
u64 ruby_name_code(struct walk *walk, struct mem *mem, const struct ruby_code *parts);
/* Before the first word of a walk: finds out which kept words are valid. */
void ruby_names_begin(struct walk *walk, struct mem *mem);
/* The word of a frame; 0: it has no name, or cannot be read.  stands_at: as ruby_line_of(). */
u64 ruby_name_frame(struct walk *walk, struct mem *mem, const struct ruby_frame *frame,
		    bool stands_at);
/* The word of an operation that has no frame of its own; 0: it has no name. */
u64 ruby_name_leaf(struct walk *walk, struct mem *mem, const struct ruby_leaf *leaf);
/* The word of the collection of garbage that objspace_flags show. */
u64 ruby_name_collection(struct walk *walk, struct mem *mem, u32 objspace_flags);
