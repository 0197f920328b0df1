/*
 * What happens at the instructions that trace_dispatch has dispatch hooks before.
 *
 * A Python function's entry is found by its frame.  Each that was begun is left, by an
 * instruction or by an exception, so that the innermost entry is nearly always the frame's own.
 */
#include <stddef.h>

#include "abi/python_layout.h"
#include "agent/core/memory.h"
#include "agent/trace/calls.h"
#include "agent/trace/python/eval_loop_calls.h"
#include "agent/trace/python/monitoring.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/callable_shims.h"
#include "agent/trace/python/dispatch.h"
#include "agent/trace/python/dispatch_internal.h"
#include "agent/trace/word.h"
#include "walk/python_frames.h"

/* CO_NO_MONITORING_EVENTS: code of the interpreter's own, from 3.13 on. */
#define CODE_IS_UNSEEN 0x2000000U

/* PyTypeObject and PySequenceMethods: the same from 3.12 to 3.15. */
#define TYPE_SEQUENCE 104
#define TYPE_ITERATOR 216
#define SEQUENCE_ITEM 24
/* PyMethodObject: im_func, im_self and im_weakreflist. */
#define BOUND_FUNCTION 16
#define BOUND_SELF     24
#define BOUND_WEAK     32

/* Frames of the interpreter's own code, as that which makes an object for __init__(). */
#define NOT_CALLERS 4U
/* Of 3.12 (Include/opcode.h, pycore_code.h and pycore_frame.h): see is_of_attribute(). */
#define BINARY_SUBSCR_GETITEM 20
#define SUBSCRIPT_CACHES      1
#define CALL_CACHES           3
#define ATTRIBUTE_CALLEE      3 /* the last of its caches, four units, begin there */
#define FRAME_FUNCTION        16

struct trace_dispatch trace_dispatch = { .mode = DISPATCH_OFF };

static inline bool is_on(void)
{
	return __builtin_expect(trace_dispatch.mode == DISPATCH_ON, 1);
}

static void *only_look(const u64 *places, u64 number)
{
	if (trace_dispatch.mode == DISPATCH_WATCHING)
		trace_eval_loop_watch(places, trace_dispatch.opcodes[number]);
	return trace_dispatch.originals[number];
}

/* --- what is executed --- */

static inline u64 frame_of_state(u64 state)
{
	if (trace_dispatch.state_cframe == 0)
		return loop_word(state + trace_dispatch.state_frame);
	return loop_word(loop_word(state + trace_dispatch.state_cframe) +
			 trace_dispatch.cframe_frame);
}

/* Of the places that have been right so far, those that are now. */
static u64 still_right(const u64 *places, u64 candidates, u64 word)
{
	for (u32 i = 0; i < LOOP_PLACES; i++) {
		if (i == LOOP_TARGET || places[i] != word)
			candidates &= ~(1ULL << i);
	}
	return candidates;
}

/* While the places are looked for, it sees who is right. */
static __attribute__((noinline)) u64 ask_for_state(const u64 *places, struct call_stack *calls)
{
	const u64 state = (u64)trace_dispatch.get_state();

	calls->python_state = state;
	if (trace_dispatch.state_candidates != 0)
		trace_dispatch.state_candidates =
			still_right(places, trace_dispatch.state_candidates, state);
	if (trace_dispatch.frame_candidates != 0)
		trace_dispatch.frame_candidates = still_right(
			places, trace_dispatch.frame_candidates, frame_of_state(state));
	return state;
}

/*
 * The place may be a word of the loop's stack, of which it is not certain that nothing else is
 * ever in it: but then it would not be what it was for this thread before.
 */
static inline u64 state_of(const u64 *places, struct call_stack *calls)
{
	const u64 state = calls->python_state;

	if (__builtin_expect(places[trace_dispatch.places.state] == state && state != 0, 1))
		return state;
	return ask_for_state(places, calls);
}

static inline u64 frame_of(const u64 *places, struct call_stack *calls)
{
	return __builtin_expect(trace_dispatch.places.frame != LOOP_NOWHERE, 1)
		       ? places[trace_dispatch.places.frame]
		       : frame_of_state(state_of(places, calls));
}

static inline u64 code_of(u64 frame)
{
	return loop_word(frame + trace_dispatch.frame_code) & ~trace_dispatch.shape.tags;
}

/* Another tool's callback is being executed: it is not traced, as with sys.monitoring. */
static inline bool is_in_other_tool(u64 state)
{
	return *(const int *)(state + trace_dispatch.state_tracing) != 0;
}

static inline bool is_unseen(u64 code)
{
	return (*(const u32 *)(code + trace_dispatch.code_flags) & CODE_IS_UNSEEN) != 0;
}

static inline void enter(struct call_stack *calls, u64 frame, u64 code)
{
	/*
	 * RESUME is executed again when it has made something else of itself, and of its code:
	 * the function has begun then, and called nothing.
	 */
	if (__builtin_expect(loop_is_function(calls->top, frame), 0)) {
		if (calls->top->object == code)
			return;
		loop_leave(calls, frame);
	}
	if (!is_unseen(code))
		loop_enter(calls, frame, code);
}

static inline bool is_maker(const u64 *places)
{
	return ((u32)places[trace_dispatch.places.argument] & trace_dispatch.maker_mask) ==
	       trace_dispatch.maker;
}

void *trace_dispatch_on_start(u64 *places, u64 number)
{
	if (!is_on())
		return only_look(places, number);
	struct call_stack *calls = trace_of_thread();

	if (calls != NULL && !is_maker(places) && !is_in_other_tool(state_of(places, calls))) {
		const u64 frame = frame_of(places, calls);

		enter(calls, frame, code_of(frame));
	}
	return trace_dispatch.originals[number];
}

static inline void leave(struct call_stack *calls, u64 frame)
{
	/* Nobody entered the others: they are not to be looked for. */
	if (__builtin_expect(loop_is_function(calls->top, frame), 1) ||
	    !is_unseen(code_of(frame)))
		loop_leave(calls, frame);
}

void *trace_dispatch_on_end(u64 *places, u64 number)
{
	if (!is_on())
		return only_look(places, number);
	struct call_stack *calls = trace_of_thread();

	if (calls != NULL)
		leave(calls, frame_of(places, calls));
	return trace_dispatch.originals[number];
}

void trace_dispatch_enter(struct call_stack *calls, u64 code)
{
	const u64 frame = frame_of_state((u64)trace_dispatch.get_state());

	enter(calls, frame, code);
}

void trace_dispatch_leave(struct call_stack *calls)
{
	leave(calls, frame_of_state((u64)trace_dispatch.get_state()));
}

/* --- by what it is executed --- */

/* The frame whose instruction entered this one; 0: C did.  What makes objects is no caller. */
static u64 caller_of(u64 frame)
{
	const struct python_offsets *offsets = &trace_dispatch.shape.layout->offsets;
	u64 caller = loop_word(frame + offsets->frame_previous);

	for (u32 i = 0; i < NOT_CALLERS && caller != 0; i++) {
		if (*(const u8 *)(caller + offsets->frame_owner) >= PYTHON_OWNER_INTERPRETER)
			return 0;
		if (!is_unseen(code_of(caller)))
			return caller;
		caller = loop_word(caller + offsets->frame_previous);
	}
	return 0;
}

static bool is_call(u8 opcode)
{
	for (u32 i = STUB_INSTRUMENTED_CALL; i <= STUB_CALL_EX_NON_PY_GENERAL; i++) {
		if (trace_dispatch.opcodes[i] == opcode)
			return opcode != 0;
	}
	return false;
}

static bool is_named(u64 code, const char *name)
{
	const struct python_offsets *offsets = &trace_dispatch.shape.layout->offsets;
	const u64 text = loop_word(code + offsets->code_name);
	const u64 length = loop_word(text + offsets->text_length);
	const char *characters = (const char *)(text + offsets->text_ascii);
	u64 i = 0;

	while (i < length && name[i] != '\0' && characters[i] == name[i])
		i++;
	return i == length && name[i] == '\0';
}

/*
 * __init__(), which a class calls, and an instruction the class: from 3.13 on that enters it itself
 * once it is special.
 */
static bool is_constructor(u64 code)
{
	return is_named(code, "__init__");
}

/*
 * On 3.12 a caller is behind the caches of its instruction, of which each has another number, and
 * what is in them may look like any instruction.  So it is told by what else enters a frame.  An
 * attribute (LOAD_ATTR_PROPERTY, LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN) has the function that it
 * calls in its last cache: the numbers of calls that enter frames are no beginning of such.
 */
static bool is_of_attribute(u64 frame, u64 at)
{
	u64 callee = 0;

	__builtin_memcpy(&callee, (const void *)(at - ATTRIBUTE_CALLEE * sizeof(u16)),
			 sizeof callee);
	return callee == loop_word(frame + FRAME_FUNCTION);
}

/* Its whole unit: it has no argument.  A call's caches may begin so, with a function's version. */
static bool is_of_subscript(u64 frame, u64 at)
{
	const u8 call = *(const u8 *)(at - CALL_CACHES * sizeof(u16));

	return *(const u16 *)(at - SUBSCRIPT_CACHES * sizeof(u16)) == BINARY_SUBSCR_GETITEM &&
	       (!is_call(call) || is_named(code_of(frame), "__getitem__"));
}

/* A caller is at its instruction from 3.13 on. */
bool trace_dispatch_is_called(u64 frame)
{
	const struct python_offsets *offsets = &trace_dispatch.shape.layout->offsets;
	const u64 caller = caller_of(frame);

	if (caller == 0)
		return is_constructor(code_of(frame));
	const u64 at = loop_word(caller + offsets->frame_position);

	if (trace_dispatch.shape.layout->chain == PYTHON_CHAIN_CFRAME_SHIM)
		return !is_of_attribute(frame, at) && !is_of_subscript(frame, at);
	return is_call(*(const u8 *)at);
}

/* --- what is called --- */

/*
 * Puts a shim in the place of a C function, if that is what is called.  A reference that is
 * not the stack's own (from 3.14 on) becomes one that is, for the shim drops it.
 */
static inline bool replace(const u64 *places, u64 *place)
{
	const u64 tags = trace_dispatch.shape.tags;
	const u64 callable = *place & ~tags;
	const u64 method = trace_python_method(callable);

	if (method == 0)
		return false;
	struct call_stack *calls = trace_of_thread();

	if (calls == NULL || is_in_other_tool(state_of(places, calls)))
		return false;
	const u64 shim = trace_shims_take(calls, callable, method);

	if (__builtin_expect(shim == 0, 0))
		return false;
	if (*place & tags)
		trace_dispatch.keep((void *)callable);
	*place = shim;
	return true;
}

/*
 * A bound method of a C function, in the place of what is called, with an empty place for an
 * object beside it: that and the function are put there, as the instruction will (from 3.14 on).
 * Nothing is called by that: one that is dropped has no weak references.
 */
static __attribute__((noinline)) void expand(u64 *place)
{
	const u64 tags = trace_dispatch.shape.tags;
	const u64 bound = *place & ~tags;
	const u64 function = loop_word(bound + BOUND_FUNCTION);
	const u64 self = loop_word(bound + BOUND_SELF);

	if ((place[1] & ~tags) != 0 || trace_python_method(function) == 0 ||
	    loop_word(bound + BOUND_WEAK) != 0)
		return;
	trace_dispatch.keep((void *)function);
	trace_dispatch.keep((void *)self);
	if ((*place & tags) == 0)
		trace_dispatch.drop((void *)bound);
	place[0] = function;
	/* A reference to what lives for ever is one that nobody drops. */
	place[1] = *(const s32 *)self < 0 ? self | 1 : self;
}

static inline void expand_bound(u64 *place)
{
	const u64 callable = *place & ~trace_dispatch.shape.tags;

	if (__builtin_expect(trace_dispatch.bound_type != 0 &&
				     trace_word(callable, trace_objects.object_type) ==
					     trace_dispatch.bound_type,
			     0))
		expand(place);
}

static inline u64 *stack_of(const u64 *places)
{
	return (u64 *)places[trace_dispatch.places.stack];
}

/* Where what is called stands, with `more` words above the arguments. */
static inline u64 *callable_of(const u64 *places, u64 more)
{
	u64 *end = stack_of(places) - more - (u32)places[trace_dispatch.places.argument];
	u64 *callable = end - trace_dispatch.callable_below;

	/* On 3.12 what is called is the method, if there is one, and the other is its object. */
	if (trace_dispatch.method_below != 0 && end[-(long)trace_dispatch.method_below] != 0)
		callable = end - trace_dispatch.method_below;
	expand_bound(callable);
	return callable;
}

/* The counter behind the instruction: its bits above the lower ones are the count. */
static inline u16 *counter_of(const u64 *places)
{
	return (u16 *)(places[trace_dispatch.places.next] + sizeof(u16));
}

static inline bool is_to_be_special(const u64 *places)
{
	return *counter_of(places) >> trace_dispatch.counter_shift == 0;
}

/* Of the calling thread, whose state has just been asked for. */
static inline s32 *calls_left(void)
{
	return (s32 *)(trace_own->python_state + trace_dispatch.state_calls_left);
}

/*
 * CALL is about to make something special of itself: it does, of what it really calls, and comes
 * again as what it has become.
 */
void *trace_dispatch_on_call(u64 *places, u64 number)
{
	if (!is_on())
		return only_look(places, number);
	if (!is_to_be_special(places))
		replace(places, callable_of(places, 0));
	return trace_dispatch.originals[number];
}

void *trace_dispatch_on_special(u64 *places, u64 number)
{
	if (!is_on())
		return only_look(places, number);
	u64 *place = callable_of(places, 0);

	if (!replace(places, place))
		return trace_dispatch.originals[number];
	if (trace_dispatch.uncounted >> number & 1)
		trace_shims_uncount(*place, calls_left());
	/* This one has been special, and is to stay so. */
	if (trace_dispatch.counts_down && is_to_be_special(places))
		*counter_of(places) += (u16)(1U << trace_dispatch.counter_shift);
	return trace_dispatch.call;
}

void *trace_dispatch_on_call_names(u64 *places, u64 number)
{
	/* It has a counter where it has special forms. */
	if (is_on() && (trace_dispatch.originals[STUB_CALL_KW_NON_PY] == NULL ||
			!is_to_be_special(places)))
		replace(places, callable_of(places, 1));
	return trace_dispatch.originals[number];
}

void *trace_dispatch_on_special_names(u64 *places, u64 number)
{
	return is_on() && replace(places, callable_of(places, 1))
		       ? trace_dispatch.call_names
		       : trace_dispatch.originals[number];
}

/* Arguments that cannot be spread are an error, whose text has what is called. */
static bool can_be_spread(u64 arguments)
{
	const u64 type = trace_word(arguments, trace_objects.object_type);

	if (type == trace_dispatch.tuple_type || loop_word(type + TYPE_ITERATOR) != 0)
		return true;
	const u64 sequence = loop_word(type + TYPE_SEQUENCE);

	return sequence != 0 && loop_word(sequence + SEQUENCE_ITEM) != 0;
}

static inline bool replace_spread(const u64 *places)
{
	u64 *top = stack_of(places);
	const u64 names = trace_dispatch.has_names_always
				  ? 1
				  : places[trace_dispatch.places.argument] & 1;

	return can_be_spread(top[-1 - (long)names] & ~trace_dispatch.shape.tags) &&
	       replace(places, top - names - trace_dispatch.spread_below);
}

void *trace_dispatch_on_call_spread(u64 *places, u64 number)
{
	if (is_on() && (trace_dispatch.originals[STUB_CALL_EX_NON_PY_GENERAL] == NULL ||
			!is_to_be_special(places)))
		replace_spread(places);
	return trace_dispatch.originals[number];
}

void *trace_dispatch_on_special_spread(u64 *places, u64 number)
{
	return is_on() && replace_spread(places) ? trace_dispatch.call_spread
						 : trace_dispatch.originals[number];
}

/* A call that another tool has asked for. */
void *trace_dispatch_on_other(u64 *places, u64 number)
{
	(void)places;
	if (is_on())
		trace_monitoring_want_calls(loop_word((u64)trace_dispatch.get_state() +
						      trace_dispatch.state_interpreter));
	return trace_dispatch.originals[number];
}

void *trace_dispatch_on_watch(u64 *places, u64 number)
{
	return only_look(places, number);
}
