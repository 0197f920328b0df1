/*
 * merge - merges a native stack and a Ruby stack into one.
 *
 * An activation, that is a call of the loop (rb_vm_exec()), executes the Ruby frames from the
 * innermost to the first that is_last, and has a mark behind its native frame.  Methods in C that
 * it called come before the others, and are executed by the native frames before the loop's.  So
 *
 *     native  memcpy  rb_str_times  vm_call_cfunc  [core  loop  mark]  main
 *     Ruby    String#*  Foo#bar  <main>(is_last)
 *
 * becomes
 *
 *     memcpy  rb_str_times  vm_call_cfunc  String#*  core  loop  Foo#bar  <main>  main
 */
#pragma once
#include <stdbool.h>

#include "abi/ruby_layout.h"

/* No more than that are stored: abi/ring.h has a word for each. */
#define RUBY_MAX_FRAMES 8192

/* The place of an activation's Ruby frames in a native stack; no key is 0. */
#define RUBY_MARK ((1ULL << 63) | 1)

enum ruby_word_flags {
	RUBY_WORD_IS_C = 1,    /* a method in C, or an operation that is shown as one */
	RUBY_WORD_IS_LAST = 2, /* the outermost frame of its activation */
};

/* Ruby's frames, innermost first: words[first] to words[count - 1]. */
struct ruby_stack {
	u32 first, count;
	u32 activations; /* words with RUBY_WORD_IS_LAST */
	bool is_full;    /* there were more than there is room for */
	u64 words[RUBY_MAX_FRAMES];
	u8 flags[RUBY_MAX_FRAMES];
};

/* Adds a frame outside of those that are stored. */
static inline void ruby_stack_push(struct ruby_stack *stack, u64 word, u8 flags)
{
	if (stack->count == RUBY_MAX_FRAMES) {
		stack->is_full = true;
		return;
	}
	stack->words[stack->count] = word;
	stack->flags[stack->count++] = flags;
	stack->activations += (flags & RUBY_WORD_IS_LAST) != 0;
}

/* A native stack, innermost first, with marks; and how many words there is room for. */
struct ruby_natives {
	u64 *frames;
	u32 count, room;
	bool is_full; /* the outermost are missing */
};

/*
 * Merges a Ruby stack into a native one.  may_fit: the native one is complete.  False: their
 * numbers of activations differ by more than one (the innermost may be beginning or about to
 * end); then, if there are Ruby frames, only the native frames of the innermost activation stay,
 * and all Ruby frames follow.
 */
bool ruby_merge(const struct ruby_layout *layout, const struct ruby_stack *stack, bool may_fit,
		struct ruby_natives *natives);
