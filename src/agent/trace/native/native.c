#include "agent/trace/native/native.h"

#include <stddef.h>

#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/program_start.h"
#include "agent/trace/area.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/native/native_internal.h"

/* Bytes that a thread's stack surely has when the thread begins. */
#define FIRST_BYTES (16ULL << 10)
#define CHAIN_BYTES 2U /* pop %r10 */

struct trace_native trace_native AGENT_STATE;
__thread struct trace_native_own trace_native_own;
/* A bit for each kind whose calibration has begun. */
static u32 calibrated;
#define CALIBRATED_KINDS (TRACE_KIND_FENTRY - TRACE_KIND_INSTRUMENTED + 1)

/* native/entries_x86_64.S relies on these. */
_Static_assert(TRACE_KIND_MCOUNT + 1 == TRACE_KIND_FENTRY, "which of two");
_Static_assert(offsetof(struct trace_native, next_mcount) == 8, "mcount");
_Static_assert(offsetof(struct trace_native, next__mcount) == 16, "_mcount");
_Static_assert(offsetof(struct trace_native, next_fentry) == 24, "__fentry__");
_Static_assert(offsetof(struct trace_native, on_mcount) == 48, "mcount");
_Static_assert(offsetof(struct trace_native, on__mcount) == 52, "_mcount");
_Static_assert(offsetof(struct trace_native, on_fentry) == 56, "__fentry__");

void trace_native_find_own_stack(void)
{
	struct trace_native_own *own = &trace_native_own;
	const u64 thread = arch_thread_pointer();

	if (thread == program_start.thread_pointer) {
		own->high = program_start.stack_top;
		own->low = program_start.stack_top - program_start.stack_bytes;
		return;
	}
	/* glibc puts a thread's control block at the end of its stack. */
	own->high = thread;
	own->low = thread - FIRST_BYTES;
}

/*
 * Whether the innermost call must be over, given an event at a level.  A handler on the alternate
 * signal stack is over when its thread is back on its own stack.  Calls on other stacks cannot be
 * compared, except that no two calls have the same level.
 */
static bool is_over(const struct trace_entry *top, u64 level, enum trace_native_stack stack,
		    bool is_beside)
{
	if (!trace_native_is(top->kind))
		return false;
	if (top->frame == level)
		return is_beside || top->kind != TRACE_KIND_INSTRUMENTED;
	const enum trace_native_stack other = trace_native_stack_of(top->frame);

	if (other == TRACE_STACK_OF_SIGNALS && stack == TRACE_STACK_OWN)
		return true;
	if (other != stack || top->frame > level)
		return false;
	/* Where ends are not seen, a small distance must do. */
	return stack != TRACE_STACK_OTHER ||
	       (!trace_native.sees_ends && level - top->frame < TRACE_FRAME_MAX / 64);
}

static void drop_what_is_over(struct call_stack *calls, u64 level, bool is_beside, u64 now)
{
	const enum trace_native_stack stack = trace_native_stack_of(level);

	while (calls->top > calls->entries && is_over(calls->top, level, stack, is_beside))
		trace_pop(calls, now);
}

/*
 * Whether the hook that has taken a tree was left by a jump out of a signal handler: its level
 * was further in than this event's.
 */
static bool was_left(u64 busy, u64 level)
{
	busy &= ~1ULL;
	return level >= busy && trace_native_stack_of(level) == trace_native_stack_of(busy);
}

static struct call_stack **place_of_tree(u32 i)
{
	return i == 0 ? &trace_own : &trace_native_own.others[i - 1];
}

static struct call_stack *tree_at(u32 i)
{
	struct call_stack **place = place_of_tree(i);

	if (i == 0)
		return trace_of_thread();
	if (*place != NULL)
		return *place;
	struct call_stack *own = trace_own;

	trace_own = NULL;
	*place = trace_begin_thread();
	trace_own = own;
	return *place;
}

/* Whether an interrupted hook has taken this tree, and will go on after us. */
static bool is_busy(u32 i, u64 outer)
{
	const struct call_stack *calls = *place_of_tree(i);

	return calls != NULL && calls->busy != 0 && !was_left(calls->busy, outer);
}

/*
 * Takes the tree that an event goes to; NULL: none is free.  Hooks further in than `outer` were
 * left by a jump; the event's own hook is at `level`.
 */
static struct call_stack *take_tree(u64 outer, u64 level)
{
	u32 i = 0;

	while (i < TRACE_NATIVE_TREES && is_busy(i, outer))
		i++;
	if (i == TRACE_NATIVE_TREES)
		return NULL;
	struct call_stack *calls = tree_at(i);

	if (calls == NULL)
		return NULL;
	/* Time since the last event in this tree was counted in the outer trees. */
	if (i > 0 && ((*place_of_tree(i - 1))->busy & 1) == 0) {
		(*place_of_tree(i - 1))->busy |= 1;
		trace_skip(calls);
	}
	trace_take(calls, level);
	return calls;
}

static void give_tree(struct call_stack *calls, u64 level)
{
	if (!trace_give(calls, level))
		trace_skip(calls);
}

/* Once per kind; not while the tree is taken: then at a later event. */
static void calibrate(enum trace_kind kind)
{
	const u32 bit = 1U << (kind - TRACE_KIND_INSTRUMENTED);

	if ((__atomic_load_n(&calibrated, __ATOMIC_RELAXED) & bit) != 0 || !permits.may_call ||
	    (kind != TRACE_KIND_INSTRUMENTED && !trace_native.sees_ends) ||
	    trace_of_thread() == NULL || trace_own->busy != 0 ||
	    (__atomic_fetch_or(&calibrated, bit, __ATOMIC_RELAXED) & bit) != 0)
		return;
	trace_calibrate_native(kind);
}

/* `begin` by value, to stay in registers.  True: the call has an entry, and its end is awaited. */
static inline __attribute__((always_inline)) bool enter(struct trace_native_event begin,
							enum trace_kind kind)
{
	const u64 level = begin.level;
	struct call_stack *own = trace_of_thread();

	if (own != NULL && trace_throttled(own))
		return false;
	calibrate(kind);

	const u64 now = trace_now();
	struct call_stack *calls = take_tree(level, level);

	if (calls == NULL) {
		struct trace_area *area = trace_area_of_process();

		/* A thread without any tree is counted as untraced instead. */
		if (area != NULL && trace_own != NULL)
			__atomic_fetch_add(&area->lost_calls, 1, __ATOMIC_RELAXED);
		return false;
	}
	const struct trace_call call = { .identity = begin.function,
					 .object = begin.function,
					 .named = begin.frame_pointer,
					 .frame = level,
					 .kind = kind };

	trace_advance(calls, now);
	drop_what_is_over(calls, level, kind != TRACE_KIND_INSTRUMENTED, now);
	if (kind == TRACE_KIND_INSTRUMENTED)
		trace_native_drop_what_was_left(calls, &begin, now);
	const struct trace_entry *before = calls->top;

	trace_open(calls, call, now);
	const bool is_stacked = calls->top != before;

	/* No end is awaited for a call without an entry, so it must not count as unstacked. */
	if (!is_stacked && calls->unstacked > 0)
		calls->unstacked--;
	trace_give_opened(calls, level);
	return is_stacked;
}

void trace_native_enter(const struct trace_native_event *begin)
{
	enter(*begin, TRACE_KIND_INSTRUMENTED);
}

/*
 * Whether an entry is the call that ends, although alloca() has moved the stack pointer between the
 * two hooks.  A function with alloca() has a frame pointer; the return address is above the word it
 * points to.  Other functions may have the same value in that register as a caller without entry.
 */
static bool is_same_frame(const struct trace_entry *entry, const struct trace_native_event *end)
{
	const u64 at = end->frame_pointer;

	if (entry->named != at || at % sizeof(u64) != 0 || at < entry->frame ||
	    at - entry->frame >= TRACE_FRAME_MAX)
		return false;
	return trace_native_stack_of(at) == TRACE_STACK_OTHER ||
	       ((const u64 *)at)[1] == end->return_address;
}

/* Whether an entry is the call that ends: by its function, or, without one, by its exact level. */
static bool is_meant(const struct trace_entry *entry, const struct trace_native_event *end)
{
	if (end->function == 0)
		return entry->frame == end->level && trace_native_is(entry->kind);
	return entry->object == end->function && entry->kind == TRACE_KIND_INSTRUMENTED &&
	       trace_native_stack_of(entry->frame) == trace_native_stack_of(end->level) &&
	       (entry->frame <= end->level || is_same_frame(entry, end));
}

/* Whether an entry is further out than the level on the same stack: the search can end there. */
static bool is_beyond(const struct trace_entry *entry, u64 level)
{
	if (!trace_native_is(entry->kind) || entry->frame <= level)
		return false;
	const enum trace_native_stack stack = trace_native_stack_of(level);

	return stack != TRACE_STACK_OTHER && trace_native_stack_of(entry->frame) == stack;
}

void trace_native_leave(const struct trace_native_event *end)
{
	const u64 level = end->level, now = trace_now();
	struct call_stack *calls = take_tree(level, level);

	if (calls == NULL)
		return;
	struct trace_entry *entry = calls->top;

	trace_advance(calls, now);
	/* Ends of calls too deep to have an entry find nothing, after few entries. */
	while (entry > calls->entries && !is_meant(entry, end))
		entry = is_beyond(entry, level) ? calls->entries : entry - 1;
	while (entry > calls->entries && calls->top >= entry)
		trace_pop(calls, now);
	give_tree(calls, level);
}

void trace_native_jump(u64 level)
{
	const u64 now = trace_now();
	/* A signal handler may also jump, as far, from here. */
	const u64 here = (u64)__builtin_frame_address(0);
	struct call_stack *calls = trace_own != NULL ? take_tree(level, here) : NULL;

	if (calls == NULL)
		return;
	trace_advance(calls, now);
	drop_what_is_over(calls, level, false, now);
	give_tree(calls, here);
}

#if defined(__x86_64__)
void trace_native_leave_stack(struct trace_stack *stack)
{
	for (struct trace_entry *entry = stack->entries + 1; entry <= stack->top; entry++) {
		if (trace_native_has_slot(entry) && trace_returns_put_back(entry->frame))
			entry->named |= TRACE_SLOT_PUT_BACK;
	}
}

void trace_native_return_to_stack(struct trace_stack *stack)
{
	for (struct trace_entry *entry = stack->entries + 1; entry <= stack->top; entry++) {
		if (!trace_native_has_slot(entry) || !(entry->named & TRACE_SLOT_PUT_BACK))
			continue;
		entry->named &= ~(u64)TRACE_SLOT_PUT_BACK;
		if (trace_native.sees_ends)
			trace_returns_exchange(entry->frame);
	}
}

/*
 * Whether the code after the hook's call pops r10: gcc saves the static chain of a nested
 * function there before it calls __fentry__().
 */
static bool pops_chain(u64 behind)
{
	static const u8 pop_r10[] = { 0x41, 0x5a };

	return __builtin_memcmp((const void *)behind, pop_r10, sizeof pop_r10) == 0;
}

void trace_native_on_entry_slowly(u64 slot, u64 behind, u32 which)
{
	const enum trace_kind kind = TRACE_KIND_MCOUNT + which;

	/* No longer `behind`: the fast path never finds the call, and each comes here. */
	if (kind == TRACE_KIND_FENTRY && pops_chain(behind)) {
		slot += sizeof(u64);
		behind += CHAIN_BYTES;
	}
	const bool is_stacked =
		enter((struct trace_native_event){ .level = slot, .function = behind }, kind);
	struct trace_area *area = trace_area_of_process();

	if (is_stacked && trace_native.sees_ends && trace_returns_have_shadow(slot))
		trace_returns_exchange(slot);
	else if (is_stacked && area != NULL)
		__atomic_fetch_add(&area->endless_calls, 1, __ATOMIC_RELAXED);
}

u64 trace_native_on_return_slowly(u64 slot)
{
	trace_native_leave(&(struct trace_native_event){ .level = slot });
	return *trace_returns_shadow(slot);
}

/* Other kinds are identified by the return address of the hook's call. */
u64 trace_native_place(u64 function, u32 kind)
{
	return kind == TRACE_KIND_INSTRUMENTED ? function : function - 1;
}
#else
void trace_native_leave_stack(struct trace_stack *stack)
{
	(void)stack;
}

void trace_native_return_to_stack(struct trace_stack *stack)
{
	(void)stack;
}

u64 trace_native_place(u64 function, u32 kind)
{
	(void)kind;
	return function;
}
#endif

void trace_native_forget(void)
{
	struct trace_native_own *own = &trace_native_own;

	for (u32 i = 0; i < TRACE_NATIVE_TREES - 1; i++)
		own->others[i] = NULL;
	/* In the parent, another thread may have been calibrating. */
	for (u32 i = 0; i < CALIBRATED_KINDS; i++) {
		if (!trace_cost_is_known(TRACE_KIND_INSTRUMENTED + i))
			calibrated &= ~(1U << i);
	}
#if defined(__x86_64__)
	trace_returns_forget_others();
#endif
}
