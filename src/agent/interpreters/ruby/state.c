#include "agent/interpreters/ruby/state.h"

#include "agent/core/arch.h"
#include "agent/core/memory.h"
#include "agent/core/tls.h"
#include "agent/core/walk.h"
#include "agent/interpreters/layouts.h"
#include "walk/ruby.h"

/* The most threads of a process that are looked through. */
#define MOST_THREADS 4096U

/* enum gc_mode */
#define MODE_MARKING 1U

#define DURING_COMPACTING (1U << 6)
/* 3.0 has two bits for it. */
#define DURING_COMPACTING_3_0 (3U << 6)
#define HAS_HOOK              (1U << 8)
#define HAS_HOOK_3_0          (1U << 9)

/*
 * 2.7 has a variable only for the thread that holds the GVL; so a thread looks for itself in the
 * list of all.  That may change meanwhile: only the caller's own is used.
 */
static u64 find_in_list(struct mem *mem, const struct ruby_layout *layout)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 vm, node, owner, context;

	if (ruby_read(mem, &vm, layout->vm, 0) < 0 ||
	    ruby_read(mem, &node, vm, offsets->vm_threads) < 0)
		return 0;
	for (u32 i = 0; i < MOST_THREADS && node != vm + offsets->vm_threads; i++) {
		const u64 thread = node - offsets->thread_link;

		if (ruby_read(mem, &owner, thread, offsets->thread_pthread) < 0)
			return 0;
		if (owner == arch_thread_pointer())
			return ruby_read(mem, &context, thread, offsets->thread_ec) < 0
				       ? 0
				       : context;
		if (ruby_read(mem, &node, node, 0) < 0)
			return 0;
	}
	return 0;
}

u64 ruby_find_context(struct mem *mem, const struct ruby_layout *layout)
{
	switch (layout->context_means) {
	case RUBY_CONTEXT_BY_TLS:
		return tls_read(mem, &layout->context);
	case RUBY_CONTEXT_BY_LIST:
		return find_in_list(mem, layout);
	default:
		return 0;
	}
}

/* struct rb_objspace; 0 if it cannot be read. */
static u64 objspace_of(struct mem *mem, const struct ruby_layout *layout, u64 context)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 thread, vm, objspace;

	if (ruby_read(mem, &thread, context, offsets->ec_thread) < 0 ||
	    ruby_read(mem, &vm, thread, offsets->thread_vm) < 0 ||
	    ruby_read(mem, &objspace, vm, offsets->vm_objspace) < 0)
		return 0;
	return objspace;
}

u64 ruby_objspace_flags_at(struct mem *mem, const struct ruby_layout *layout, u64 context)
{
	const u64 objspace = objspace_of(mem, layout, context);

	return objspace != 0 ? objspace + layout->offsets.objspace_flags : 0;
}

u32 ruby_objspace_flags(struct mem *mem, const struct ruby_layout *layout, u64 context)
{
	const u64 at = ruby_objspace_flags_at(mem, layout, context);
	u32 flags;

	return at != 0 && ruby_read_int(mem, &flags, at, 0) >= 0 ? flags : 0;
}

u32 ruby_has_hook_flag(const struct ruby_layout *layout)
{
	const bool is_3_0 = layout->version >> 8 == 0x0300;

	if (layout->version >= 0x030300)
		return 0;
	return is_3_0 ? HAS_HOOK_3_0 : HAS_HOOK;
}

bool ruby_collections(struct mem *mem, const struct ruby_layout *layout, u64 context,
		      u64 *out_count)
{
	const u64 objspace = objspace_of(mem, layout, context);

	return objspace != 0 && layout->offsets.objspace_count != RUBY_NO_FIELD &&
	       ruby_read(mem, out_count, objspace, layout->offsets.objspace_count) >= 0;
}

bool ruby_is_compacting(const struct ruby_layout *layout, u32 objspace_flags)
{
	const bool is_3_0 = layout->version >> 8 == 0x0300;

	return objspace_flags & (is_3_0 ? DURING_COMPACTING_3_0 : DURING_COMPACTING);
}

bool ruby_is_marking(u32 objspace_flags)
{
	return (objspace_flags & RUBY_OBJSPACE_MODE) == MODE_MARKING;
}

bool ruby_find_machine_stack(struct mem *mem, const struct ruby_layout *layout, u64 context,
			     struct code_range *out_stack)
{
	u64 bytes;

	if (ruby_read(mem, &out_stack->end, context, layout->offsets.ec_machine_start) < 0 ||
	    ruby_read(mem, &bytes, context, layout->offsets.ec_machine_max) < 0 ||
	    bytes > out_stack->end)
		return false;
	out_stack->start = out_stack->end - bytes;
	return true;
}

void ruby_find_stack(const struct walk *walk, struct mem *mem)
{
	const struct ruby_layout *layout = layouts_ruby(walk->ring);
	struct code_range stack;
	u64 context;

	if (layout == NULL)
		return;
	context = ruby_find_context(mem, layout);
	if (context == 0 || !ruby_find_machine_stack(mem, layout, context, &stack))
		return;
	mem->shown_low = stack.start;
	mem->shown_high = stack.end;
}
