/*
 * ruby - puts the frames of a CRuby thread among the native ones when a walk is over.
 *
 * Ruby's control frames are an array, in which methods in C have frames, too: so a Ruby stack is
 * complete by itself, and only the places of the native frames among them have to be found.
 * That is done by counting activations (docs/decisions/0019-ruby-frames.md).
 *
 * Costs nothing until a walk comes to the interpreter's code, in a process in which the recorder
 * has found one (abi/ring.h, has_ruby).
 */
#pragma once
#include <stdbool.h>

#include "abi/ring.h"
#include "agent/core/memory.h"
#include "agent/interpreters/ruby/scratch.h"
#include "walk/name_text.h"

struct walk;

void ruby_begin_walk(struct ruby_scratch *scratch, struct ring_header *ring, struct mem *mem);
/* Notes the frame that the walk has just stored: its address is one that ruby_has_code_at(). */
void ruby_meet(struct walk *walk, u64 address);
/* The native walk ended as walk->status says. */
void ruby_end_walk(struct walk *walk, struct mem *mem);

static inline bool ruby_has_code_at(const struct ruby_scratch *scratch, u64 address)
{
	return scratch->layout != NULL && (code_ranges_have(scratch->layout->core, address) ||
					   code_ranges_have(scratch->layout->loop, address));
}
