/*
 * callers - finds the caller of an instrumented function, to drop calls that were left unnoticed.
 * The hook reports the return address, which lies right at the inner end of the caller's frame,
 * and the caller's entry has that place.
 */
#include <stddef.h>

#include "agent/core/memory.h"
#include "agent/trace/native/native_internal.h"

/* The return address is looked for within so many bytes; not in larger frames. */
#define SLOT_MAX (16ULL << 10)
/* A copy of the return address may lie that far below the original. */
#define COPIED_MAX 128U
/* Most bytes of code from a function's start to its hook's call. */
#define PROLOGUE_MAX 256U
/* A frame has at least 16 bytes, and one entry apart from functions inlined in it. */
#define ENTRIES_MAX (SLOT_MAX / 16)

#if defined(__x86_64__)
#define CALL_BYTES         5U /* call rel32 */
#define CALL_THROUGH_BYTES 6U /* call *rel32(%rip) */

/* The target of a relative call (the word that an indirect call reads). */
static u64 target_before(u64 end)
{
	s32 distance;

	__builtin_memcpy(&distance, (const void *)(end - sizeof distance), sizeof distance);
	return end + (u64)(s64)distance;
}

static bool is_call(u64 at)
{
	return *(const u8 *)at == 0xe8;
}

static bool is_call_through(u64 at)
{
	const u8 *code = (const u8 *)at;

	return code[0] == 0xff && code[1] == 0x15;
}

/*
 * Whether the reported return address is that of the function's own caller.  An inlined function
 * reports that of the function that contains it, whose first hook call is another one.  Hook
 * calls are recognised by their target, without decoding instructions.
 */
static bool has_own_caller(const struct call_stack *calls,
			   const struct trace_native_event *begin)
{
	const u64 first = begin->function, end = begin->behind;
	const bool is_through =
		end - first > CALL_BYTES && is_call_through(end - CALL_THROUGH_BYTES);
	const u32 bytes = is_through ? CALL_THROUGH_BYTES : CALL_BYTES;

	(void)calls;
	if (end < first + bytes || end - first > PROLOGUE_MAX ||
	    !(is_through || is_call(end - bytes)))
		return false;
	for (u64 at = first; at < end - bytes; at++) {
		if ((is_through ? is_call_through(at) : is_call(at)) &&
		    target_before(at + bytes) == target_before(end))
			return false;
	}
	return true;
}
#else
/* Unknown here: assumed while calls may have been left by an exception. */
static bool has_own_caller(const struct call_stack *calls,
			   const struct trace_native_event *begin)
{
	(void)begin;
	return calls->unwound > 0;
}
#endif

/*
 * Whether this entry's function has called `begin` directly: then the word below the entry's
 * stack pointer, at its hook, is the return address.  If the compiler has moved the stack pointer
 * since, for arguments or by alloca(), the call is not recognised.
 */
static bool has_called(const struct trace_entry *entry, const struct trace_native_event *begin)
{
	return entry->kind == TRACE_KIND_INSTRUMENTED && entry->frame > begin->level &&
	       trace_native_stack_of(entry->frame) == TRACE_STACK_OWN &&
	       *((const u64 *)entry->frame - 1) == begin->return_address;
}

/*
 * The entry of the caller of a function whose return address lies at slot, or NULL.  The search
 * ends at the first entry further out than the slot, so deep recursion costs nothing.
 */
static const struct trace_entry *caller_at(const struct call_stack *calls, u64 slot)
{
	const u64 level = slot + sizeof(u64);
	const struct trace_entry *entry = calls->top;

	for (u32 i = 0; i < ENTRIES_MAX && trace_native_is(entry->kind); i++, entry--) {
		if (entry->frame >= level &&
		    trace_native_stack_of(entry->frame) == TRACE_STACK_OWN)
			return entry->frame == level && entry->kind == TRACE_KIND_INSTRUMENTED
				       ? entry
				       : NULL;
	}
	return NULL;
}

/*
 * The entry of the caller of the function whose hook this is, or NULL: it has none, or is not
 * found.  The return address is the first equal word above the hook's level, unless gcc has
 * copied it there from a little further up, to align the stack.  The word's page is readable; the
 * next one may not be stack any more (of a coroutine next to a thread's small stack).
 */
static const struct trace_entry *find_caller(const struct call_stack *calls,
					     const struct trace_native_event *begin)
{
	const u64 high = trace_native_own.high;
	u64 last = high - begin->level < SLOT_MAX ? high : begin->level + SLOT_MAX;
	const struct trace_entry *caller = NULL;

	for (u64 at = begin->level; at + sizeof at <= last && caller == NULL; at += sizeof at) {
		if (*(const u64 *)at != begin->return_address)
			continue;
		const u64 page_end = (at | (MEMORY_PAGE - 1)) + 1;

		caller = caller_at(calls, at);
		last = page_end < last ? page_end : last;
		last = at + COPIED_MAX < last ? at + COPIED_MAX : last;
	}
	return caller;
}

/* Whether both have one frame: the former was inlined in the latter, after an alloca(). */
static bool is_within(const struct trace_entry *entry, const struct trace_entry *outer)
{
	return entry->frame == outer->frame ||
	       (entry->named == outer->named && entry->named >= outer->frame &&
		entry->named - outer->frame < TRACE_FRAME_MAX);
}

void trace_native_drop_what_was_left(struct call_stack *calls,
				     const struct trace_native_event *begin, u64 now)
{
	/* The usual case. */
	if (calls->unwound == 0 && has_called(calls->top, begin))
		return;
	if (!has_own_caller(calls, begin))
		return;
	calls->unwound -= calls->unwound > 0;
	/* Calls without an entry: another one might be taken for the caller. */
	if (trace_native_stack_of(begin->level) != TRACE_STACK_OWN ||
	    calls->top == calls->limit)
		return;
	const struct trace_entry *caller = find_caller(calls, begin);

	if (caller == NULL)
		return;
	calls->unwound = 0;
	while (calls->top > caller && trace_native_is(calls->top->kind) &&
	       !is_within(calls->top, caller))
		trace_pop(calls, now);
}
