/*
 * scratch - memory for the Ruby frames of one walk.
 */
#pragma once
#include <stdbool.h>

#include "abi/ruby_layout.h"
#include "abi/types.h"
#include "agent/core/memory.h"
#include "agent/interpreters/ruby/merge.h"
#include "walk/name_text.h"
#include "walk/ruby_leaf.h"
#include "walk/ruby_walk.h"

/* The Ruby stack of the calling thread: frames.h. */
struct ruby_frames {
	struct ruby_walk walk;
	struct ruby_stack stack; /* whose first two words are chosen, if has_top */
	u64 innermost;           /* the address of the innermost control frame */
	bool has_top;
	struct ruby_frame top;
	struct ruby_leaves leaves;
	u64 leaf_words[2]; /* [stands_at]: [1] for the instruction at pc, [0] before it */
	u64 top_words[2];
};

/* Memory for one walk; ruby_begin_walk() initialises it. */
struct ruby_scratch {
	const struct ruby_layout *layout; /* NULL: there is no interpreter */
	u64 context;                      /* the thread's; 0: it has none */
	u64 core;        /* the innermost loop's address in vm_exec_core(); 0: it is in none */
	u32 activations; /* of the loop, that the walk came to */
	u32 objspace_flags; /* interpreters/ruby/state.h */
	u64 generation;     /* in which kept words are valid: interpreters/ruby/names.c */
	u64 collection;     /* the word of the thread's garbage collection; 0: none */
	struct ruby_frames frames;
	struct name_text texts[3];
};
