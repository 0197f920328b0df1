/*
 * state - finds a thread's execution context in CRuby, and its collector's phase.
 */
#pragma once
#include <stdbool.h>

#include "abi/code_range.h"
#include "abi/ruby_layout.h"

struct mem;
struct walk;

/*
 * The context of the fiber that this thread executes, whether it holds the GVL or not; 0: the
 * thread is none of Ruby's.  The result is unchecked: ruby_is_context().
 */
u64 ruby_find_context(struct mem *mem, const struct ruby_layout *layout);

/* The flags of struct rb_objspace, as from 2.7 on; 0 if they cannot be read. */
#define RUBY_OBJSPACE_MODE      3U
#define RUBY_OBJSPACE_DURING_GC (1U << 5)
u32 ruby_objspace_flags(struct mem *mem, const struct ruby_layout *layout, u64 context);
/* The flags' address; 0 if that cannot be read. */
u64 ruby_objspace_flags_at(struct mem *mem, const struct ruby_layout *layout, u64 context);
/* The one of these flags that is set if any internal event has hooks; 0: from 3.3 on. */
u32 ruby_has_hook_flag(const struct ruby_layout *layout);
/* How many collections have begun; false if that cannot be read. */
bool ruby_collections(struct mem *mem, const struct ruby_layout *layout, u64 context,
		      u64 *out_count);

/* Whether objects may be moved at the moment, so that none may be read. */
bool ruby_is_compacting(const struct ruby_layout *layout, u32 objspace_flags);
/* Whether the collector is marking: dead objects cannot be recognised yet. */
bool ruby_is_marking(u32 objspace_flags);

/* Finds the stack of a fiber, or of a thread that Ruby has put on a stack of its own making. */
void ruby_find_stack(const struct walk *walk, struct mem *mem);
/* The bounds of a context's native stack; false: they are not known. */
bool ruby_find_machine_stack(struct mem *mem, const struct ruby_layout *layout, u64 context,
			     struct code_range *out_stack);
