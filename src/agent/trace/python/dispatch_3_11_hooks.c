/*
 * What happens at the instructions that trace_dispatch_3_11 has dispatch hooks before, and at calls from C.
 *
 * A Python function's entry is found by its frame, a C function's by its caller's.  A frame
 * that an exception leaves is not told of: its entry is closed when the next event comes from
 * a frame further out, which is the exception's handler or the return to C at the latest.
 */
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/python/dispatch_3_11.h"
#include "agent/trace/python/dispatch_3_11_internal.h"
#include "agent/trace/python/eval_loop_calls.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/callable_shims.h"
#include "agent/trace/word.h"

/* CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR, and who owns such a one's frame. */
#define CODE_MAKES_GENERATOR 0x2a0U
#define OWNED_BY_GENERATOR   1
#define TUPLE_COUNT          16
#define PRECALL_BYTES        4 /* with its cache */
/* PyTypeObject and PySequenceMethods. */
#define TYPE_SEQUENCE 104
#define TYPE_ITERATOR 216
#define SEQUENCE_ITEM 24

struct trace_dispatch_3_11 trace_dispatch_3_11 = { .mode = DISPATCH_3_11_OFF };

static inline u8 *cframe_of(const u64 *places)
{
	return (u8 *)(places + LOOP_STACK) + trace_dispatch_3_11.places.cframe;
}

static inline u64 frame_of(const u64 *places)
{
	return loop_word((u64)cframe_of(places) + CFRAME_FRAME);
}

static inline u64 state_of(const u64 *places)
{
	return trace_dispatch_3_11.places.state != LOOP_NOWHERE
		       ? places[trace_dispatch_3_11.places.state]
		       : (u64)trace_dispatch_3_11.get_state();
}

static inline frames_evaluator **evaluator_of(u64 state)
{
	return (void *)(loop_word(state + STATE_INTERPRETER) +
			trace_dispatch_3_11.evaluator_at);
}

/* Another tool has a function of its own called for what happens. */
static inline bool has_other_tool(u64 state)
{
	return (loop_word(state + STATE_PROFILE) | loop_word(state + STATE_TRACE)) != 0;
}

/* That function is being executed: it is not traced, as with a profile function. */
static inline bool is_in_other_tool(u64 state)
{
	return *(const int *)(state + STATE_TRACING) != 0;
}

static inline bool is_builtin(const struct trace_entry *entry, u64 frame)
{
	return entry->frame == frame && entry->kind != TRACE_KIND_PYTHON &&
	       entry->kind != TRACE_KIND_REGION;
}

static inline u64 code_of(u64 frame)
{
	return loop_word(frame + FRAME_CODE);
}

static inline void enter_function(struct call_stack *calls, u64 frame)
{
	loop_enter(calls, frame, code_of(frame));
}

/* A frame that began before it was traced has entries of its C functions only. */
static struct trace_entry *find_caller(const struct call_stack *calls, u64 frame)
{
	struct trace_entry *found = loop_find_function(calls, frame);

	if (found > calls->entries)
		return found;
	found = calls->top;
	for (struct trace_entry *entry = calls->top; entry > calls->entries; entry--) {
		if (entry->frame == frame)
			found = entry - 1;
	}
	return found;
}

/* This frame is being executed: what it called, and what has not returned, is over. */
static __attribute__((noinline)) void settle(struct call_stack *calls, u64 frame)
{
	const u64 now = trace_now();
	const struct trace_entry *caller = find_caller(calls, frame);

	trace_advance(calls, now);
	/* A region of its own is ended by the program. */
	while (calls->top > caller && calls->top->kind != TRACE_KIND_REGION)
		trace_pop(calls, now);
}

static inline void settle_if_needed(struct call_stack *calls, u64 frame)
{
	if (__builtin_expect(!loop_is_function(calls->top, frame), 0) && !loop_is_full(calls))
		settle(calls, frame);
}

/*
 * Ours is set again.  None is set by us where there is another tool's, which ours calls; so
 * none means that there is none, and that we have taken ours away for a call, or the tool its
 * own.
 */
static inline void set_evaluator(frames_evaluator **evaluator)
{
	if (__builtin_expect(*evaluator == trace_dispatch_3_11_evaluate, 1))
		return;
	trace_dispatch_3_11.foreign = *evaluator;
	*evaluator = trace_dispatch_3_11_evaluate;
}

/*
 * The next instruction is a called function's first one, or there is an error. In the first
 * case the loop is not to call itself, and so no evaluator.
 */
static inline void expect_function(const u64 *places)
{
	frames_evaluator **evaluator = evaluator_of(state_of(places));

	*cframe_of(places) = 255;
	set_evaluator(evaluator);
	if (trace_dispatch_3_11.foreign == NULL)
		*evaluator = NULL;
}

static inline void expect_builtin(const u64 *places, u64 callable, u64 method)
{
	struct call_stack *calls = trace_of_thread();
	const u64 frame = frame_of(places);

	if (calls == NULL || is_in_other_tool(state_of(places)))
		return;
	settle_if_needed(calls, frame);
	*cframe_of(places) = 255;
	calls->called_at = places[trace_dispatch_3_11.places.next];
	calls->site = 0;
	trace_enter(calls,
		    (struct trace_call){ .identity = trace_python_method_identity(method),
					 .object = method,
					 .named = callable,
					 .frame = frame,
					 .kind = TRACE_KIND_PYTHON_BUILTIN },
		    trace_now());
	calls->unstacked = 0;
}

/* What an instruction calls: see PRECALL in Python/ceval.c for what stands where. */
struct callee {
	u64 callable;
	u64 type;
	u64 arguments; /* with self */
};

static inline struct callee callee_of(const u64 *places)
{
	const u64 *stack = (const u64 *)places[trace_dispatch_3_11.places.stack];
	const u32 count = (u32)places[trace_dispatch_3_11.places.argument];
	const u64 method = stack[-(long)count - 2];
	const u64 callable = method != 0 ? method : stack[-(long)count - 1];

	return (struct callee){ .callable = callable,
				.type = trace_word(callable, trace_objects.object_type),
				.arguments = count + (method != 0) };
}

static inline void call_builtin(const u64 *places, struct callee callee)
{
	const u64 method = trace_python_method(callee.callable);

	/* As cProfile: list.append() without an object is an error, not a call. */
	if (method != 0 &&
	    (callee.arguments > 0 || callee.type != trace_objects.descriptor_type))
		expect_builtin(places, callee.callable, method);
}

void *trace_dispatch_3_11_on_call(u64 *places, u64 opcode)
{
	if (!frames_is_on()) {
		trace_eval_loop_watch(places, opcode);
		return trace_dispatch_3_11.originals[opcode];
	}
	const struct callee callee = callee_of(places);

	if (callee.type == trace_dispatch_3_11.function_type)
		expect_function(places);
	else if (trace_dispatch_3_11.has_builtins && opcode != OPCODE_CALL_PY_EXACT_ARGS &&
		 opcode != OPCODE_CALL_PY_WITH_DEFAULTS) /* these leave it to CALL */
		call_builtin(places, callee);
	return trace_dispatch_3_11.originals[opcode];
}

/* Where a C function was called before: it is called at once, or PRECALL and CALL follow. */
void *trace_dispatch_3_11_on_precall(u64 *places, u64 opcode)
{
	if (frames_is_on() && trace_dispatch_3_11.has_builtins)
		call_builtin(places, callee_of(places));
	return trace_dispatch_3_11.originals[opcode];
}

static inline bool can_be_iterated(u64 type)
{
	const u64 sequence = loop_word(type + TYPE_SEQUENCE);

	return loop_word(type + TYPE_ITERATOR) != 0 ||
	       (sequence != 0 && loop_word(sequence + SEQUENCE_ITEM) != 0);
}

/*
 * Arguments that are no tuple are made one first, which may call functions, and fail.  The call
 * begins behind that: so a shim reports it.  Another tool has to see what is called.
 */
static __attribute__((noinline)) void call_unspread(const u64 *places, u64 type, u64 *place)
{
	const u64 method = trace_python_method(*place), state = state_of(places);
	struct call_stack *calls = trace_of_thread();

	if (method == 0 || calls == NULL || !can_be_iterated(type) || is_in_other_tool(state))
		return;
	settle_if_needed(calls, frame_of(places));
	const bool has_shims = trace_dispatch_3_11.has_shims && !has_other_tool(state);
	const u64 shim = has_shims ? trace_shims_take(calls, *place, method) : 0;

	calls->site = 0;
	if (shim != 0)
		*place = shim;
	else
		expect_builtin(places, *place, method);
}

void *trace_dispatch_3_11_on_call_spread(u64 *places, u64 opcode)
{
	if (!frames_is_on() || !trace_dispatch_3_11.has_builtins)
		return trace_dispatch_3_11.originals[opcode];
	u64 *arguments = (u64 *)places[trace_dispatch_3_11.places.stack] - 1 -
			 (places[trace_dispatch_3_11.places.argument] & 1);
	const u64 callable = arguments[-1];
	const u64 type = trace_word(arguments[0], trace_objects.object_type);

	if (type != trace_dispatch_3_11.tuple_type)
		call_unspread(places, type, &arguments[-1]);
	else
		call_builtin(places,
			     (struct callee){
				     .callable = callable,
				     .type = trace_word(callable, trace_objects.object_type),
				     .arguments = trace_word(arguments[0], TUPLE_COUNT),
			     });
	return trace_dispatch_3_11.originals[opcode];
}

/* BINARY_SUBSCR of an object whose class has __getitem__(): a Python function is called. */
void *trace_dispatch_3_11_on_subscript(u64 *places, u64 opcode)
{
	if (frames_is_on())
		expect_function(places);
	return trace_dispatch_3_11.originals[opcode];
}

void *trace_dispatch_3_11_on_return(u64 *places, u64 opcode)
{
	if (!frames_is_on()) {
		trace_eval_loop_watch(places, opcode);
		return trace_dispatch_3_11.originals[opcode];
	}
	struct call_stack *calls = trace_of_thread();
	u8 *cframe = cframe_of(places);
	const u64 frame = loop_word((u64)cframe + CFRAME_FRAME);

	if (calls != NULL)
		loop_leave(calls, frame);
	/* The loop that called this one has its flag made equal to this one's. */
	if (*(const u8 *)(frame + FRAME_IS_ENTRY))
		*cframe |= *(const u8 *)loop_word((u64)cframe + CFRAME_PREVIOUS);
	return trace_dispatch_3_11.originals[opcode];
}

void *trace_dispatch_3_11_on_handler(u64 *places, u64 opcode)
{
	struct call_stack *calls = frames_is_on() ? trace_of_thread() : NULL;

	if (calls != NULL && !loop_is_function(calls->top, frame_of(places)))
		settle(calls, frame_of(places));
	return trace_dispatch_3_11.originals[opcode];
}

void *trace_dispatch_3_11_on_watch(u64 *places, u64 opcode)
{
	trace_eval_loop_watch(places, opcode);
	return trace_dispatch_3_11.originals[opcode];
}

/*
 * The call that has begun is not made yet: a PRECALL that was made for other callees than the
 * one it has found leaves it to the CALL behind it, and CALL_ADAPTIVE may go on to what it
 * has made of itself.  It is the last call that began: one before, which has taken back the
 * loop's flag (sys.setprofile()), may still stand there.
 */
static inline bool is_to_begin_again(const struct call_stack *calls, u64 frame, u64 next)
{
	const u64 position = loop_word(frame + FRAME_POSITION);
	const u64 behind = next - position;

	if (calls->called_at != position)
		return false;
	return behind == 0 ||
	       (behind == PRECALL_BYTES && (*(const u8 *)next == OPCODE_CALL ||
					    *(const u8 *)next == OPCODE_CALL_ADAPTIVE ||
					    *(const u8 *)next == OPCODE_CALL_PY_EXACT_ARGS ||
					    *(const u8 *)next == OPCODE_CALL_PY_WITH_DEFAULTS));
}

/* No C function called it: one that its caller has called is over (sys.setprofile() again). */
static inline void enter_from_loop(struct call_stack *calls, u64 frame)
{
	const u64 caller = loop_word(frame + FRAME_PREVIOUS);

	if (__builtin_expect(is_builtin(calls->top, caller), 0) &&
	    !*(const u8 *)(frame + FRAME_IS_ENTRY))
		settle_if_needed(calls, caller);
	enter_function(calls, frame);
}

static inline void turn(struct call_stack *calls, u64 state, u64 frame, u64 next)
{
	const struct trace_entry *top = calls->top;

	if (next == code_of(frame) + CODE_INSTRUCTIONS) {
		const u32 flags = *(const u32 *)(code_of(frame) + CODE_FLAGS);

		/* What makes a generator is no call of it. */
		if ((flags & CODE_MAKES_GENERATOR) == 0 && !loop_is_function(top, frame) &&
		    !is_in_other_tool(state))
			enter_from_loop(calls, frame);
		return;
	}
	if (__builtin_expect(is_to_begin_again(calls, frame, next) && is_builtin(top, frame),
			     0)) {
		trace_advance(calls, trace_now());
		if (top->node != (top - 1)->node)
			trace_node_at(calls, top->node)->calls -= calls->is_off ^ 1;
		calls->top--;
		return;
	}
	if (__builtin_expect(is_builtin(top, frame) && loop_is_function(top - 1, frame), 1)) {
		const u64 now = trace_now();

		trace_advance(calls, now);
		trace_pop(calls, now);
		return;
	}
	settle_if_needed(calls, frame);
}

void *trace_dispatch_3_11_on_turn(u64 *places, u64 opcode)
{
	if (!frames_is_on())
		return trace_dispatch_3_11.originals[opcode];
	const u64 state = state_of(places);
	u8 *cframe = cframe_of(places);
	struct call_stack *calls = trace_of_thread();

	set_evaluator(evaluator_of(state));
	if (calls != NULL)
		turn(calls, state, loop_word((u64)cframe + CFRAME_FRAME),
		     places[trace_dispatch_3_11.places.next]);
	if (has_other_tool(state) && !is_in_other_tool(state))
		return trace_dispatch_3_11.originals[opcode];
	*cframe = 0;
	/* NOP goes on to the instruction behind it, with all that the loop wants. */
	places[trace_dispatch_3_11.places.next] -= sizeof(u16);
	return trace_dispatch_3_11.originals[OPCODE_NOP];
}

/*
 * Whether the loop will refuse it before its first instruction (_Py_EnterRecursiveCall() and
 * _Py_CheckRecursiveCall(), Python/ceval.c).
 */
static inline bool is_too_deep(u64 state)
{
	return *(const int *)(state + STATE_REMAINING) <= 0 &&
	       *(const int *)(state + STATE_HEADROOM) == 0;
}

static inline bool is_call(u64 state, u64 frame)
{
	const u32 flags = *(const u32 *)(code_of(frame) + CODE_FLAGS);

	return ((flags & CODE_MAKES_GENERATOR) == 0 ||
		*(const u8 *)(frame + FRAME_OWNER) == OWNED_BY_GENERATOR) &&
	       !is_in_other_tool(state) && !is_too_deep(state);
}

/* The loop has made it the innermost one; where C calls, another loop will. */
bool trace_dispatch_3_11_is_called(u64 frame)
{
	const u64 cframe = loop_word((u64)trace_dispatch_3_11.get_state() + STATE_CFRAME);

	return loop_word(cframe + CFRAME_FRAME) == frame;
}

/*
 * A spread of something else than a dict is made one before the call, and dropped there, too; and
 * so is one of something else than a tuple, where no shim reports when the call begins
 * (call_unspread()).
 */
static inline bool may_drop_before(u64 state, u64 frame)
{
	const u8 *instruction = (const u8 *)loop_word(frame + FRAME_POSITION);

	return instruction[0] == OPCODE_CALL_FUNCTION_EX &&
	       ((instruction[1] & 1) != 0 || !trace_dispatch_3_11.has_shims ||
		has_other_tool(state));
}

/*
 * The C function that the loop outside has called is over if its arguments are being dropped.
 * Another tool's function is called by the loop as well, before the C function and behind it.
 */
static inline void end_dropped(struct call_stack *calls, u64 state, u64 cframe)
{
	const u64 caller = loop_word(cframe + CFRAME_FRAME);

	if (caller != 0 && is_builtin(calls->top, caller) && !is_in_other_tool(state) &&
	    !may_drop_before(state, caller) &&
	    trace_dispatch_3_11_is_dropping(calls, caller,
					    cframe - trace_dispatch_3_11.places.cframe))
		settle(calls, caller);
}

void *trace_dispatch_3_11_evaluate(void *state_object, void *frame_object, int is_throw)
{
	const u64 state = (u64)state_object, frame = (u64)frame_object;
	u8 *outer = (u8 *)loop_word(state + STATE_CFRAME);
	const u8 outer_tracing = *outer;
	const bool is_generator = *(const u8 *)(frame + FRAME_OWNER) == OWNED_BY_GENERATOR;
	struct call_stack *calls = is_call(state, frame) ? trace_of_thread() : NULL;
	frames_evaluator *evaluate = trace_dispatch_3_11.foreign != NULL
					     ? trace_dispatch_3_11.foreign
					     : trace_dispatch_3_11.evaluate;

	/* Which the loop that is called would begin with. */
	if (outer_tracing != 0 && !has_other_tool(state))
		*outer = 0;
	if (calls != NULL) {
		end_dropped(calls, state, (u64)outer);
		enter_function(calls, frame);
	}
	void *result = evaluate(state_object, frame_object, is_throw);

	/*
	 * RETURN_VALUE has told of it, or there is an exception, or it has yielded.  In a
	 * child of fork the calls is another one.
	 */
	if (calls != NULL && (result == NULL || is_generator)) {
		calls = trace_of_thread();
		if (calls != NULL)
			loop_leave(calls, frame);
	}
	if (outer_tracing != 0)
		*outer = outer_tracing;
	set_evaluator(evaluator_of(state));
	return result;
}
