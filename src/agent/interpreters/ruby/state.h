/*
 * state - the execution context by which CRuby knows the calling thread, and what its
 * collector of garbage is at.
 */
#pragma once
#include <stdbool.h>

#include "abi/code_range.h"
#include "abi/ruby_layout.h"

struct mem;
struct walk;

/*
 * The context of the fiber that this thread executes, whether it holds the GVL or not; 0: the
 * thread is none of Ruby's.  It may be anything still: ruby_is_context().
 */
u64 ruby_find_context(struct mem *mem, const struct ruby_layout *layout);

/*
 * The flags of the object space (struct rb_objspace), as every version from 2.7 on has them;
 * 0 if they cannot be read.
 */
#define RUBY_OBJSPACE_MODE      3U
#define RUBY_OBJSPACE_DURING_GC (1U << 5)
u32 ruby_objspace_flags(struct mem *mem, const struct ruby_layout *layout, u64 context);
/* Where they are; 0 if that cannot be read. */
u64 ruby_objspace_flags_at(struct mem *mem, const struct ruby_layout *layout, u64 context);
/* Of these, the one that says that there are hooks for any internal event; 0: from 3.3 on. */
u32 ruby_has_hook_flag(const struct ruby_layout *layout);
/* How many collections have begun; false if that cannot be read. */
bool ruby_collections(struct mem *mem, const struct ruby_layout *layout, u64 context,
		      u64 *out_count);

/* Objects may be on the move, so that none may be read. */
bool ruby_is_compacting(const struct ruby_layout *layout, u32 objspace_flags);
/* It is found out which objects live: those that die now cannot be recognised yet. */
bool ruby_is_marking(u32 objspace_flags);

/* Of a fiber, or of a thread that Ruby has put on a stack of its making. */
void ruby_find_stack(const struct walk *walk, struct mem *mem);
/* How far the native stack of a context reaches; false: it is not known. */
bool ruby_find_machine_stack(struct mem *mem, const struct ruby_layout *layout, u64 context,
			     struct code_range *out_stack);
