/*
 * hooks - the fast path of hooks in compiled code; rarer cases are passed to native.c.
 *
 * Compiled to use general registers only: see native/entries_x86_64.S.
 */
#include "agent/core/hooks.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/native/native.h"
#include "agent/trace/native/native_internal.h"

/* Searches the next few siblings, without changing where the next search begins. */
static inline u32 find_near(const struct call_stack *calls, u32 parent, u64 identity)
{
	const struct trace_node *above = trace_node_at(calls, parent);
	const u32 first = __atomic_load_n(&above->first_child, __ATOMIC_RELAXED);
	const u32 near = above->is_wide ? TRACE_NEAR_WIDE + 1 : TRACE_NEAR;
	u32 child = first;

	if (!trace_is_node(first))
		return TRACE_NO_NODE;
	for (u32 i = 0; i < near; i++) {
		const struct trace_node *node = trace_node_at(calls, child);

		if (__builtin_expect(node->identity == identity, 1))
			return child;
		child = trace_link(&node->next_sibling);
		if (child == first)
			break;
	}
	return TRACE_NO_NODE;
}

/* trace_now() for a plain event: the clock is the machine's counter. */
static inline u64 now_plain(void)
{
	return ticks_now() - trace_clock.skipped;
}

/* Begins a call whose node was found by the fast path. */
static inline void push_plain(struct call_stack *calls, u32 node, struct trace_entry entry)
{
	trace_advance(calls, entry.start_ticks);
	trace_push(calls, node, entry);
}

/*
 * Whether to leave out a call that begins while the thread is throttled.  The first event after a
 * change of the throttle takes the slow path.
 */
static inline bool is_left_out(const struct call_stack *calls)
{
	return __builtin_expect(calls != NULL && calls->is_throttled, 0) &&
	       calls->area->is_throttled != 0;
}

static inline bool is_counted_plainly(const struct call_stack *calls)
{
	return trace_native_is_plain(calls) &&
	       (calls->area->is_throttled | calls->is_throttled) == 0;
}

/* Ends the innermost call. */
static inline void pop_plain(struct call_stack *calls, u64 level)
{
	trace_take(calls, level);
	const u64 now = now_plain();

	trace_advance(calls, now);
	trace_pop(calls, now);
	if (!trace_give(calls, level))
		trace_skip(calls);
}

#if defined(__x86_64__)
/* In native/entries_x86_64.S: call the slow paths (native/native.h) with all registers saved. */
void trace_native_on_entry_slowly_saving(u64 slot, u64 behind, u32 which);
u64 trace_native_on_return_slowly_saving(u64 slot);

__attribute__((visibility("hidden"))) void trace_native_on_entry(u64 slot, u64 behind,
								 u32 which)
{
	struct call_stack *calls = trace_own;

	if (is_left_out(calls))
		return;
	if (!is_counted_plainly(calls) || !trace_native.sees_ends ||
	    slot >> TRACE_PIECE_BITS != trace_returns_piece || calls->top == calls->limit ||
	    (trace_native_is(calls->top->kind) && calls->top->frame <= slot)) {
		trace_native_on_entry_slowly_saving(slot, behind, which);
		return;
	}
	const u32 node = find_near(calls, calls->top->node, behind);

	if (__builtin_expect(node == TRACE_NO_NODE, 0)) {
		trace_native_on_entry_slowly_saving(slot, behind, which);
		return;
	}
	trace_take(calls, slot);
	push_plain(calls, node,
		   (struct trace_entry){ .object = behind,
					 .frame = slot,
					 .start_ticks = now_plain(),
					 .kind = TRACE_KIND_MCOUNT + which });
	trace_returns_exchange(slot);
	if (!trace_give(calls, slot))
		trace_skip(calls);
}

__attribute__((visibility("hidden"))) u64 trace_native_on_return(u64 slot)
{
	struct call_stack *calls = trace_own;

	if (!trace_native_is_plain(calls) || calls->top->frame != slot ||
	    calls->top->kind - TRACE_KIND_MCOUNT > TRACE_KIND_FENTRY - TRACE_KIND_MCOUNT)
		return trace_native_on_return_slowly_saving(slot);
	pop_plain(calls, slot);
	return *trace_returns_shadow(slot);
}
#endif

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

/* The stack pointer of our caller before it called us. */
#define LEVEL_OF_CALLER ((u64)__builtin_dwarf_cfa())
/* Our caller's frame pointer register, which our frame has saved. */
#define FRAME_OF_CALLER (*(const u64 *)__builtin_frame_address(0))

AGENT_EXPORT void __cyg_profile_func_enter(void *function, void *caller)
{
	const u64 level = LEVEL_OF_CALLER;
	struct call_stack *calls = trace_own;

	if (trace_native.next_enter != NULL)
		trace_native.next_enter(function, caller);
	if (!trace_native.is_on || is_left_out(calls))
		return;
	const u32 node = is_counted_plainly(calls) && calls->unwound == 0 &&
					 calls->top != calls->limit &&
					 !(trace_native_is(calls->top->kind) &&
					   calls->top->frame < level)
				 ? find_near(calls, calls->top->node, (u64)function)
				 : TRACE_NO_NODE;

	if (__builtin_expect(node == TRACE_NO_NODE, 0)) {
		trace_native_enter(&(struct trace_native_event){
			.level = level,
			.function = (u64)function,
			.frame_pointer = FRAME_OF_CALLER,
			.return_address = (u64)caller,
			.behind = (u64)__builtin_return_address(0),
		});
		return;
	}
	trace_take(calls, level);
	push_plain(calls, node,
		   (struct trace_entry){ .object = (u64)function,
					 .named = FRAME_OF_CALLER,
					 .frame = level,
					 .start_ticks = now_plain(),
					 .kind = TRACE_KIND_INSTRUMENTED });
	if (!trace_give(calls, level))
		trace_skip(calls);
}

AGENT_EXPORT void __cyg_profile_func_exit(void *function, void *caller)
{
	const u64 level = LEVEL_OF_CALLER;
	struct call_stack *calls = trace_own;

	if (trace_native.is_on) {
		if (trace_native_is_plain(calls) && calls->top->object == (u64)function &&
		    calls->top->kind == TRACE_KIND_INSTRUMENTED && calls->top->frame <= level) {
			pop_plain(calls, level);
		} else {
			trace_native_leave(
				&(struct trace_native_event){ .level = level,
							      .function = (u64)function,
							      .frame_pointer = FRAME_OF_CALLER,
							      .return_address = (u64)caller });
		}
	}
	if (trace_native.next_exit != NULL)
		trace_native.next_exit(function, caller);
}
