/*
 * What happens where a frame is executed, and before an instruction that calls.
 */
#include "vantage/agent/trace/python/trace_evaluator.h"

#include "abi/python_layout.h"
#include "agent/core/agent.h"
#include "agent/core/arch.h"
#include "vantage/agent/trace/trace.h"
#include "vantage/agent/trace/python/trace_evaluator_own.h"
#include "vantage/agent/trace/python/trace_proxies.h"

/* PyTypeObject, what its tp_flags say of subclasses of dict, and PySequenceMethods. */
#define TYPE_SEQUENCE 104
#define TYPE_FLAGS    168
#define TYPE_ITER     216
#define FLAG_OF_DICT  (1UL << 29)
#define SEQUENCE_ITEM 24

struct trace_evaluator trace_evaluator;
void *trace_evaluator_originals[LOOP_TABLE_WORDS];

/* --- functions of Python --- */

/* Another tool's function is being executed: it is not traced, as with a profile function. */
static inline bool is_in_other_tool(u64 state)
{
	return *(const int *)(state + STATE_TRACING) != 0;
}

/*
 * The interpreter refuses a frame when calls are too deep, before it executes anything.  No
 * profile function would have been told of it.
 */
static inline bool was_refused(u64 frame)
{
	return trace_evaluator.is_state
		       ? *(const signed char *)(frame + trace_evaluator.frame_begun) < 0
		       : loop_word(frame + trace_evaluator.frame_begun) != 0;
}

bool trace_evaluator_began(u64 state, u64 frame)
{
	const u64 now = trace_now();
	struct tracer *tracer = trace_of_thread();

	if (state == 0)
		state = (u64)trace_evaluator.get_state();
	if (__builtin_expect(tracer == NULL, 0) || is_in_other_tool(state))
		return false;
	/* Ours was called by another tool's, which it had called: the call has begun. */
	if (__builtin_expect(trace_evaluator.foreign != NULL, 0) && tracer->top->frame == frame)
		return false;
	const u64 code = loop_word(frame + FRAME_CODE);

	trace_enter(tracer,
		    (struct trace_call){ .identity = trace_python_identity(code),
					 .object = code,
					 .named = code,
					 .frame = frame,
					 .kind = TRACE_KIND_PYTHON },
		    now);
	return true;
}

/* What the caller is at: PyFrameObject.f_lasti, of its co_code. */
bool trace_evaluator_is_called(u64 frame)
{
	const struct python_layout *layout = trace_layout();
	const u64 caller = loop_word(frame + layout->offsets.frame_previous);

	if (caller == 0)
		return false;
	const s32 position = *(const s32 *)(caller + layout->offsets.frame_position);
	const u32 unit = layout->position == PYTHON_POSITION_UNITS ? sizeof(u16) : 1;
	const u8 *code = (const u8 *)loop_word(loop_word(caller + FRAME_CODE) + CODE_BYTES) +
			 layout->offsets.bytes_data;

	if (position < 0)
		return false;
	switch (code[(u32)position * unit]) {
#define X(opcode, hook) case opcode:
		EVALUATOR_STUB_MAP(X)
#undef X
		return true;
	default:
		return false;
	}
}

static __attribute__((noinline)) void take_back(struct tracer *tracer, u64 frame, u64 now)
{
	const struct trace_entry *top = tracer->top;
	const u64 level = arch_stack_pointer();

	trace_take(tracer, level);
	trace_advance(tracer, now);
	if (top->frame == frame) {
		trace_node_at(tracer, top->node)->calls -= tracer->is_off ^ 1;
		tracer->top--;
	} else if (tracer->unstacked > 0) {
		tracer->unstacked--;
	}
	if (!trace_give(tracer, level))
		trace_skip(tracer);
}

/* In a child of fork the tracer is another one. */
void trace_evaluator_ended(u64 frame, const void *result)
{
	const u64 now = trace_now();
	struct tracer *tracer = trace_of_thread();

	if (tracer == NULL)
		return;
	if (__builtin_expect(result == NULL, 0) && was_refused(frame))
		take_back(tracer, frame, now);
	else
		trace_leave(tracer, loop_word(frame + FRAME_CODE), frame, now);
}

/* --- functions of C --- */

static inline u64 state_of(const u64 *places)
{
	return trace_evaluator.places.state != LOOP_NOWHERE
		       ? places[trace_evaluator.places.state]
		       : (u64)trace_evaluator.get_state();
}

static inline u64 *stack_of(const u64 *places)
{
	return (u64 *)places[trace_evaluator.places.stack];
}

static inline u32 argument_of(const u64 *places)
{
	return (u32)places[trace_evaluator.places.argument];
}

/* Another tool has set its own in this interpreter: ours calls it from now on. */
static __attribute__((noinline)) void set_again(void **evaluator)
{
	trace_evaluator.foreign = *evaluator != trace_evaluator.original ? *evaluator : NULL;
	trace_evaluator.next = *evaluator;
	*evaluator = trace_evaluator.ours;
}

/* What stands in for a callable that the instruction is about to call; 0: nothing. */
static inline __attribute__((always_inline)) u64 stand_in(const u64 *places, u64 callable,
							  u64 *place)
{
	const u64 state = state_of(places);

	if (__builtin_expect(*evaluator_at(state) != trace_evaluator.ours, 0))
		set_again(evaluator_at(state));
	/* It is these that most calls are of. */
	if (trace_word(callable, trace_objects.object_type) == trace_objects.function_type)
		return 0;
	const u64 method = trace_python_method(callable);

	if (method == 0 || is_in_other_tool(state))
		return 0;
	/* A profile function is told by the instruction, which has to see what it calls. */
	if (__builtin_expect(loop_word(state + STATE_PROFILE) != 0, 0)) {
		trace_note_other_tool();
		return 0;
	}
	struct tracer *tracer = trace_of_thread();

	return tracer != NULL ? trace_proxies_take(tracer, callable, method, place) : 0;
}

static inline __attribute__((always_inline)) void replace(const u64 *places, u64 *place)
{
	const u64 proxy = stand_in(places, *place, place);

	if (proxy != 0)
		*place = proxy;
}

void trace_evaluator_on_call(u64 *places)
{
	replace(places, stack_of(places) - argument_of(places) - 1);
}

/* Above the arguments is a tuple of names. */
void trace_evaluator_on_call_names(u64 *places)
{
	replace(places, stack_of(places) - argument_of(places) - 2);
}

/* What is called is below self, or there is no self, but a NULL below what is called. */
void trace_evaluator_on_call_method(u64 *places)
{
	u64 *place = stack_of(places) - argument_of(places) - 2;

	replace(places, *place != 0 ? place : place + 1);
}

static inline u64 type_of(u64 object)
{
	return trace_word(object, trace_objects.object_type);
}

static inline bool can_be_iterated(u64 type)
{
	const u64 sequence = loop_word(type + TYPE_SEQUENCE);

	return loop_word(type + TYPE_ITER) != 0 ||
	       (sequence != 0 && loop_word(sequence + SEQUENCE_ITEM) != 0);
}

/*
 * Whether the instruction comes to call at all, and does not complain of what it should spread.
 * What it says then names what would have been called, which 3.8 asks no stand-in for.
 */
static inline bool can_be_spread(u64 arguments, u64 map)
{
	return (type_of(arguments) == trace_evaluator.tuple_type ||
		can_be_iterated(type_of(arguments))) &&
	       (map == 0 || (loop_word(type_of(map) + TYPE_FLAGS) & FLAG_OF_DICT) != 0);
}

void trace_evaluator_on_call_spread(u64 *places)
{
	const bool has_map = argument_of(places) & 1;
	u64 *arguments = stack_of(places) - 1 - has_map;
	u64 *place = arguments - 1;

	if (!can_be_spread(*arguments, has_map ? arguments[1] : 0))
		return;
	/* This instruction drops what it has called, wherever it kept it. */
	const u64 proxy = stand_in(places, *place, NULL);

	if (proxy != 0)
		*place = proxy;
}
