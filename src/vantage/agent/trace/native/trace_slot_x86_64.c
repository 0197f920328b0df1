#include "vantage/agent/trace/native/trace_slot.h"

#include "agent/core/agent.h"
#include "agent/core/memory.h"

/* The hook's call: `call rel32`, or `call *rel32(%rip)`. */
#define CALL_BYTES_MIN 5U
#define CALL_BYTES_MAX 6U
#define CHAIN_BYTES    2U

/* Of a function that aligns its stack, from the alignment to the hook's call: no more than. */
#define PROLOGUE_MAX   96U
#define ALIGNING_BYTES 20U /* of these instructions, at most */

static bool is_code(u64 address, const u8 *code, u32 bytes)
{
	return __builtin_memcmp((const void *)address, code, bytes) == 0;
}

u32 trace_slot_call_bytes(u64 behind)
{
	return ((const u8 *)behind)[-(s64)CALL_BYTES_MIN] == 0xe8 ? CALL_BYTES_MIN
								  : CALL_BYTES_MAX;
}

u64 trace_slot_first_instruction(u64 function)
{
	static const u8 push_r10[] = { 0x41, 0x52 };
	const u64 hook = function - CHAIN_BYTES;

	/* Before a function that has none there may be no memory. */
	if (trace_slot_pops_chain(hook)) {
		const u64 push = hook - trace_slot_call_bytes(hook) - CHAIN_BYTES;

		if (is_code(push, push_r10, sizeof push_r10))
			return push;
	}
	return function - trace_slot_call_bytes(function);
}

/*
 * How far a stack may have been moved to be aligned in the prologue that ends at `end`; 0: it
 * has no such.  As gcc writes it:
 *
 *	lea 8(%rsp), %r10; and $-n, %rsp; push -8(%r10); push %rbp; mov %rsp, %rbp
 */
static u64 alignment_at(u64 at)
{
	static const u8 lea[] = { 0x4c, 0x8d, 0x54, 0x24, 0x08 };
	static const u8 and_byte[] = { 0x48, 0x83, 0xe4 }, and_word[] = { 0x48, 0x81, 0xe4 };
	static const u8 frame[] = { 0x41, 0xff, 0x72, 0xf8, 0x55, 0x48, 0x89, 0xe5 };
	const u64 mask = at + sizeof lea + sizeof and_byte;
	s32 aligned = 0;

	if (!is_code(at, lea, sizeof lea))
		return 0;
	if (is_code(at + sizeof lea, and_byte, sizeof and_byte) &&
	    is_code(mask + 1, frame, sizeof frame))
		aligned = *(const s8 *)mask;
	else if (is_code(at + sizeof lea, and_word, sizeof and_word) &&
		 is_code(mask + sizeof aligned, frame, sizeof frame))
		__builtin_memcpy(&aligned, (const void *)mask, sizeof aligned);
	return aligned < 0 ? (u64)-aligned : 0;
}

static u64 alignment_before(u64 end)
{
	const u64 last = end - ALIGNING_BYTES;
	u64 first = end - PROLOGUE_MAX;

	if (first / MEMORY_PAGE != end / MEMORY_PAGE &&
	    !(agent.may_call && memory_probe(first)))
		first = end & ~(MEMORY_PAGE - 1);
	for (u64 at = last; at >= first; at--) {
		const u64 alignment = alignment_at(at);

		if (alignment != 0)
			return alignment;
	}
	return 0;
}

/* Where the address that was copied next to rbp came from; 0: it was not. */
static u64 origin_of(u64 copy, u64 hook)
{
	const u64 *saved = (const u64 *)copy - 1 - TRACE_SLOT_SAVED;
	const u64 alignment = alignment_before(hook);

	for (u32 i = 0; i < TRACE_SLOT_SAVED && alignment != 0; i++) {
		const u64 origin = saved[i] - sizeof(u64);

		if (origin % sizeof(u64) == 0 && origin > copy && origin - copy <= alignment &&
		    *(const u64 *)origin == *(const u64 *)copy)
			return origin;
	}
	return 0;
}

struct trace_slot trace_slot_find(u64 slot, u64 behind, bool is_first)
{
	if (is_first)
		return (struct trace_slot){ slot + sizeof(u64), behind + CHAIN_BYTES };
	const u64 origin = origin_of(slot, behind - trace_slot_call_bytes(behind));

	return origin == 0 ? (struct trace_slot){ slot, behind }
			   : (struct trace_slot){ origin, behind + 1 };
}
