/*
 * callers - what an instrumented function was called by.  It reports where it returns to,
 * and that lies at the end of its caller's frame, of which the caller's entry knows the place.
 */
#include <stddef.h>

#include "agent/core/memory.h"
#include "agent/trace/native/native_internal.h"

/* Of frames that are larger, the return address is not looked for. */
#define SLOT_MAX (16ULL << 10)
/* By so much a copy of it may lie further in. */
#define COPIED_MAX 128U
/* From where a function begins to where its hook has been called, at most. */
#define PROLOGUE_MAX 256U
/* A frame has one entry, but for what is inlined in it, and is of 16 bytes at least. */
#define ENTRIES_MAX (SLOT_MAX / 16)

#if defined(__x86_64__)
#define CALL_BYTES         5U /* call rel32 */
#define CALL_THROUGH_BYTES 6U /* call *rel32(%rip) */

/* Where a call that ends with a distance leads, or the word that it goes through. */
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
 * Whether the return address that a function reports is that of its own caller: one that was inlined
 * reports that of the function it was inlined in, and its hook is not the first one of that.  Hooks'
 * calls are known by where they lead to, so nothing is decoded.
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
/* Not known: where calls may have been left by an exception, it is taken for it. */
static bool has_own_caller(const struct call_stack *calls,
			   const struct trace_native_event *begin)
{
	(void)begin;
	return calls->unwound > 0;
}
#endif

/*
 * Whether a function is called by this one, directly: then the word below what the stack pointer
 * was at the latter's hook is where it returns to.  A compiler may have moved the stack pointer
 * in between, for arguments or by alloca(): then that is not seen.
 */
static bool has_called(const struct trace_entry *entry, const struct trace_native_event *begin)
{
	return entry->kind == TRACE_KIND_INSTRUMENTED && entry->frame > begin->level &&
	       trace_native_stack_of(entry->frame) == TRACE_STACK_OWN &&
	       *((const u64 *)entry->frame - 1) == begin->return_address;
}

/*
 * Which entry has called a function whose return address lies there.  What stands further out than
 * the place is not looked through, so it does not take longer in a deep recursion.
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
 * The entry of the function that has called the one whose hook this is; NULL: it has none, or is
 * not seen.  The return address is the first word above the hook's level that is equal to it, but
 * where gcc has copied it there from a little further up, to align the stack.  Its page is there;
 * the next one may be no stack any more (of a coroutine next to a small stack of a thread's).
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

/* Whether one's frame is another's, too, which it was inlined in behind an alloca(). */
static bool is_within(const struct trace_entry *entry, const struct trace_entry *outer)
{
	return entry->frame == outer->frame ||
	       (entry->named == outer->named && entry->named >= outer->frame &&
		entry->named - outer->frame < TRACE_FRAME_MAX);
}

void trace_native_drop_what_was_left(struct call_stack *calls,
				     const struct trace_native_event *begin, u64 now)
{
	/* So it is, as a rule. */
	if (calls->unwound == 0 && has_called(calls->top, begin))
		return;
	if (!has_own_caller(calls, begin))
		return;
	calls->unwound -= calls->unwound > 0;
	/* Of calls without an entry the caller is not seen, and another might be taken for it. */
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
