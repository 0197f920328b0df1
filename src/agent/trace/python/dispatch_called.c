/*
 * Finds out whether a call instruction has entered a frame, for the kinds of calls (call_kind.h).
 */
#include "abi/python_layout.h"
#include "agent/core/memory.h"
#include "agent/trace/python/dispatch.h"
#include "agent/trace/python/dispatch_internal.h"
#include "agent/trace/python/eval_frame.h"
#include "walk/python_frames.h"

/* Frames of the interpreter's own code to skip, as one that makes an object for __init__(). */
#define NOT_CALLERS 4U
/* Of 3.12 (Include/opcode.h, pycore_code.h and pycore_frame.h): used by the functions below. */
#define BINARY_SUBSCR_GETITEM 20
#define SUBSCRIPT_CACHES      1
#define CALL_CACHES           3
#define ATTRIBUTE_CALLEE      3 /* units: where the last cache entry, of four units, begins */
#define FRAME_FUNCTION        16

/* The frame whose instruction entered this one, beyond the interpreter's own; 0: C did. */
static u64 caller_of(u64 frame)
{
	const struct python_offsets *offsets = &trace_dispatch.shape.layout->offsets;
	u64 caller = trace_word_at(frame + offsets->frame_previous);

	for (u32 i = 0; i < NOT_CALLERS && caller != 0; i++) {
		if (*(const u8 *)(caller + offsets->frame_owner) >= PYTHON_OWNER_INTERPRETER)
			return 0;
		if (!dispatch_is_unseen(dispatch_code_of(caller)))
			return caller;
		caller = trace_word_at(caller + offsets->frame_previous);
	}
	return 0;
}

static bool is_call(u8 opcode)
{
	for (u32 i = HOOK_BEFORE_INSTRUMENTED_CALL; i <= HOOK_BEFORE_CALL_EX_NON_PY_GENERAL;
	     i++) {
		if (trace_dispatch.row.opcodes[i] == opcode)
			return opcode != 0;
	}
	return false;
}

static bool is_named(u64 code, const char *name)
{
	const struct python_offsets *offsets = &trace_dispatch.shape.layout->offsets;
	const u64 text = trace_word_at(code + offsets->code_name);
	const u64 length = trace_word_at(text + offsets->text_length);
	const char *characters = (const char *)(text + offsets->text_ascii);
	u64 i = 0;

	while (i < length && name[i] != '\0' && characters[i] == name[i])
		i++;
	return i == length && name[i] == '\0';
}

/*
 * Whether this is __init__(), called by a class that an instruction calls; from 3.13 on, the
 * specialised instruction enters it itself.
 */
static bool is_constructor(u64 code)
{
	return is_named(code, "__init__");
}

/*
 * On 3.12 a caller's position is behind the caches of its instruction.  Instructions have
 * different numbers of these, and their content may look like any instruction.  So other ways of
 * entering a frame are recognised instead.  An attribute (LOAD_ATTR_PROPERTY,
 * LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN) has the function that it calls in its last cache entry.  A
 * call has its opcode and caches there, and no such opcode is the first byte of that address.
 */
static bool is_of_attribute(u64 frame, u64 at)
{
	u64 callee = 0;

	__builtin_memcpy(&callee, (const void *)(at - ATTRIBUTE_CALLEE * sizeof(u16)),
			 sizeof callee);
	return callee == trace_word_at(frame + FRAME_FUNCTION);
}

/* Compares opcode and argument (0).  A call's cache, a version, may look like that. */
static bool is_of_subscript(u64 frame, u64 at)
{
	const u8 call = *(const u8 *)(at - CALL_CACHES * sizeof(u16));

	return *(const u16 *)(at - SUBSCRIPT_CACHES * sizeof(u16)) == BINARY_SUBSCR_GETITEM &&
	       (!is_call(call) || is_named(dispatch_code_of(frame), "__getitem__"));
}

/* From 3.13 on a caller's position is its instruction; 3.11 marks frames that C entered. */
bool trace_dispatch_is_called(u64 frame)
{
	if (trace_dispatch.mode == DISPATCH_ON_3_11)
		return !*(const u8 *)(frame + EVAL_FRAME_IS_ENTRY);
	const struct python_offsets *offsets = &trace_dispatch.shape.layout->offsets;
	const u64 caller = caller_of(frame);

	if (caller == 0)
		return is_constructor(dispatch_code_of(frame));
	const u64 at = trace_word_at(caller + offsets->frame_position);

	if (trace_dispatch.shape.layout->chain == PYTHON_CHAIN_CFRAME_SHIM)
		return !is_of_attribute(frame, at) && !is_of_subscript(frame, at);
	return is_call(*(const u8 *)at);
}
