/*
 * dispatch_hooks - what the dispatch hooks do before their instructions.
 *
 * A Python function's entry is identified by its frame.  Every frame that is entered is left, by
 * an instruction or by an exception, so the innermost entry is nearly always the frame's own.
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
#include "agent/trace/python/dispatch_callee.h"
#include "agent/trace/python/eval_frame.h"
#include "agent/trace/word.h"

/* PyTypeObject and PySequenceMethods: the same from 3.11 to 3.15. */
#define TYPE_SEQUENCE 104
#define TYPE_ITERATOR 216
#define SEQUENCE_ITEM 24
/* PyMethodObject: im_func, im_self and im_weakreflist. */
#define BOUND_FUNCTION 16
#define BOUND_SELF     24
#define BOUND_WEAK     32

__thread u64 trace_dispatch_state;
struct trace_dispatch trace_dispatch = { .mode = DISPATCH_OFF };

static inline bool is_on(void)
{
	return __builtin_expect(trace_dispatch.mode == DISPATCH_ON, 1);
}

void *trace_dispatch_only_look(const u64 *places, u64 number)
{
	if (trace_dispatch.mode == DISPATCH_WATCHING)
		trace_eval_loop_watch(places, trace_dispatch.row.opcodes[number]);
	return trace_dispatch.originals[number];
}

/* --- where the loop keeps its thread state and frame --- */

/* The candidates whose word is right again. */
static u64 still_right(const u64 *places, u64 candidates, u64 word)
{
	for (u32 i = 0; i < LOOP_PLACES; i++) {
		if (i == LOOP_TARGET || places[i] != word)
			candidates &= ~(1ULL << i);
	}
	return candidates;
}

__attribute__((noinline)) u64 trace_dispatch_ask_for_state(const u64 *places)
{
	const u64 state = (u64)python_api.get_state();

	trace_dispatch_state = state;
	if (trace_dispatch.state_candidates != 0)
		trace_dispatch.state_candidates =
			still_right(places, trace_dispatch.state_candidates, state);
	if (trace_dispatch.frame_candidates != 0)
		trace_dispatch.frame_candidates =
			still_right(places, trace_dispatch.frame_candidates,
				    dispatch_frame_of_state(state));
	return state;
}

/* --- calls that begin and end --- */

/* Whether RESUME only begins the creation of a generator expression, which is no event. */
static inline bool is_maker(const u64 *places)
{
	return ((u32)places[trace_dispatch.places.argument] & trace_dispatch.row.maker_mask) ==
	       trace_dispatch.row.maker;
}

void *trace_dispatch_on_start(u64 *places, u64 number)
{
	if (!is_on() && !eval_frame_has_set(places))
		return trace_dispatch_only_look(places, number);
	struct call_stack *calls = trace_of_thread();

	if (calls != NULL && !trace_throttled(calls) && !is_maker(places) &&
	    !dispatch_is_in_other_tool(dispatch_state_of(places))) {
		const u64 frame = dispatch_frame_of(places);

		dispatch_enter(calls, frame, dispatch_code_of(frame));
	}
	return trace_dispatch.originals[number];
}

void *trace_dispatch_on_end(u64 *places, u64 number)
{
	if (trace_dispatch.mode < DISPATCH_ON)
		return trace_dispatch_only_look(places, number);
	struct call_stack *calls = trace_of_thread();

	if (calls != NULL && !dispatch_was_left_out(calls, dispatch_frame_of(places)))
		dispatch_leave(calls, dispatch_frame_of(places));
	return trace_dispatch.originals[number];
}

void trace_dispatch_enter(struct call_stack *calls, u64 code)
{
	dispatch_enter(calls, dispatch_frame_of_state((u64)python_api.get_state()), code);
}

void trace_dispatch_leave(struct call_stack *calls)
{
	dispatch_leave(calls, dispatch_frame_of_state((u64)python_api.get_state()));
}

/* --- callables --- */

/*
 * For a bound method of a C function on the value stack, above which lies an empty word for an
 * object: replaces them by the function and the object, as the instruction would do (from 3.14
 * on).  This runs no code: a bound method that is dropped here has no weak references.
 */
__attribute__((noinline)) void trace_dispatch_expand(u64 *place)
{
	const u64 tags = trace_dispatch.shape.tags;
	const u64 bound = *place & ~tags;
	const u64 function = trace_word_at(bound + BOUND_FUNCTION);
	const u64 self = trace_word_at(bound + BOUND_SELF);

	if ((place[1] & ~tags) != 0 || trace_python_method(function) == 0 ||
	    trace_word_at(bound + BOUND_WEAK) != 0)
		return;
	python_api.Py_IncRef((void *)function);
	python_api.Py_IncRef((void *)self);
	if ((*place & tags) == 0)
		python_api.Py_DecRef((void *)bound);
	place[0] = function;
	/* References to immortal objects are tagged as not owned. */
	place[1] = *(const s32 *)self < 0 ? self | 1 : self;
}

/* The specialisation counter behind the instruction; its upper bits are the count. */
static inline u16 *counter_of(const u64 *places)
{
	return (u16 *)(places[trace_dispatch.places.next] + sizeof(u16));
}

static inline bool is_to_be_special(const u64 *places)
{
	return *counter_of(places) >> trace_dispatch.row.counter_shift == 0;
}

/*
 * If CALL is about to specialise itself, it must see the real callable: no shim then.  It is
 * executed again in its new form.
 */
void *trace_dispatch_on_call(u64 *places, u64 number)
{
	if (!is_on())
		return trace_dispatch_call_3_11(places, number);
	if (!is_to_be_special(places))
		dispatch_replace(places, dispatch_callable_of(places, 0));
	return trace_dispatch.originals[number];
}

void *trace_dispatch_on_special(u64 *places, u64 number)
{
	if (!is_on())
		return trace_dispatch_call_3_11(places, number);
	u64 *place = dispatch_callable_of(places, 0);

	if (!dispatch_replace(places, place))
		return trace_dispatch.originals[number];
	if (trace_dispatch.row.uncounted >> number & 1)
		trace_shims_uncount(*place, dispatch_calls_left());
	/* The general form must not specialise this instruction anew: keep its counter above 0. */
	if (trace_dispatch.counts_down && is_to_be_special(places))
		*counter_of(places) += (u16)(1U << trace_dispatch.row.counter_shift);
	return trace_dispatch.call;
}

void *trace_dispatch_on_call_names(u64 *places, u64 number)
{
	/* It has a counter in versions in which it has specialised forms. */
	if (is_on() && (trace_dispatch.originals[HOOK_BEFORE_CALL_KW_NON_PY] == NULL ||
			!is_to_be_special(places)))
		dispatch_replace(places, dispatch_callable_of(places, 1));
	return trace_dispatch.originals[number];
}

void *trace_dispatch_on_special_names(u64 *places, u64 number)
{
	return is_on() && dispatch_replace(places, dispatch_callable_of(places, 1))
		       ? trace_dispatch.call_names
		       : trace_dispatch.originals[number];
}

/* Whether *arguments are iterable: if not, the error names the callable, not to be a shim. */
static bool can_be_spread(u64 arguments)
{
	const u64 type = trace_word(arguments, trace_objects.object_type);

	if (type == trace_dispatch.tuple_type || trace_word_at(type + TYPE_ITERATOR) != 0)
		return true;
	const u64 sequence = trace_word_at(type + TYPE_SEQUENCE);

	return sequence != 0 && trace_word_at(sequence + SEQUENCE_ITEM) != 0;
}

static inline bool replace_spread(const u64 *places)
{
	u64 *top = dispatch_stack_of(places);
	const u64 names = trace_dispatch.row.has_names_always
				  ? 1
				  : places[trace_dispatch.places.argument] & 1;

	return can_be_spread(top[-1 - (long)names] & ~trace_dispatch.shape.tags) &&
	       dispatch_replace(places, top - names - trace_dispatch.row.spread_below);
}

void *trace_dispatch_on_call_spread(u64 *places, u64 number)
{
	if ((is_on() || trace_dispatch_is_on_3_11(places)) &&
	    (trace_dispatch.originals[HOOK_BEFORE_CALL_EX_NON_PY_GENERAL] == NULL ||
	     !is_to_be_special(places)))
		replace_spread(places);
	return trace_dispatch.originals[number];
}

void *trace_dispatch_on_special_spread(u64 *places, u64 number)
{
	return is_on() && replace_spread(places) ? trace_dispatch.call_spread
						 : trace_dispatch.originals[number];
}

/* A call instruction that another tool has instrumented. */
void *trace_dispatch_on_other(u64 *places, u64 number)
{
	(void)places;
	if (is_on())
		trace_monitoring_want_calls(trace_word_at((u64)python_api.get_state() +
							  trace_dispatch.state_interpreter));
	return trace_dispatch.originals[number];
}

void *trace_dispatch_on_watch(u64 *places, u64 number)
{
	return trace_dispatch_only_look(places, number);
}
