#include "agent/trace/python/dispatch_3_11.h"

#include <stddef.h>

#include "abi/python_layout.h"
#include "abi/ring.h"
#include "agent/core/agent.h"
#include "agent/trace/area.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/python/audit.h"
#include "agent/trace/python/dispatch_3_11_internal.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/profile_function.h"
#include "agent/trace/python/callable_shims.h"
#include "agent/trace/python/symbols.h"

/* PyInterpreterState.eval_frame (Include/internal/pycore_interp.h); it is tried, too. */
#define INTERPRETER_EVALUATOR 1424

#define ENTRY_MAP(X)                                                                     \
	X(_PyInterpreterState_GetEvalFrameFunc, frames_evaluator *, (void *interpreter)) \
	X(_PyInterpreterState_SetEvalFrameFunc, void,                                    \
	  (void *interpreter, frames_evaluator *evaluator))                              \
	X(_PyEval_EvalFrameDefault, void *, (void *state, void *frame, int is_throw))

ENTRY_MAP(ENTRY_TYPE)

struct evaluator_entries {
	ENTRY_MAP(ENTRY_MEMBER)
};

static struct {
	const struct python_layout *layout;
	struct loop_entries entries;
	struct evaluator_entries evaluator;
	struct loop_table table;
	u64 loop; /* whose table it is */
	struct trace_audit audit;
	u32 is_decided;
	void (*fall_back)(void); /* where dispatch hooks cannot be set */
} frames;

static const struct dispatch_hook {
	u32 opcode;
	void (*stub)(void);
	bool is_of_builtins;
	bool is_watching_only;
} hooks[] = {
#define X(number, name, hook, is_for_builtins) \
	{ (number), trace_dispatch_3_11_entry_##number, (is_for_builtins), false },
	DISPATCH_3_11_STUB_MAP(X)
#undef X
#define X(number, name, hook, is_for_builtins) \
	{ (number), trace_dispatch_3_11_entry_##number, (is_for_builtins), true },
		DISPATCH_3_11_WATCH_MAP(X)
#undef X
};
#define STUB_COUNT (sizeof hooks / sizeof *hooks)

static struct loop_shape shape_of(const struct python_layout *layout)
{
	return (struct loop_shape){ .layout = layout,
				    .first_unused = OPCODE_LAST_USED + 1,
				    .last_unused = OPCODE_DO_TRACING - 1,
				    .call = OPCODE_CALL,
				    .callee_depth = 1 };
}

static bool find_entries(void)
{
	const bool has_all = TRACE_SYMBOLS_FIND(&frames.evaluator, ENTRY_MAP) &&
			     trace_eval_loop_find_entries(&frames.entries);

	trace_dispatch_3_11.evaluate = frames.evaluator._PyEval_EvalFrameDefault;
	trace_dispatch_3_11.deallocate = (u64)trace_symbol("_Py_Dealloc");
	trace_dispatch_3_11.layout = frames.layout;
	for (u32 i = 0; i < DISPATCH_3_11_DROPS; i++)
		trace_dispatch_3_11.drops[i] = 0;
	trace_dispatch_3_11.function_type = trace_objects.function_type;
	trace_dispatch_3_11.tuple_type = (u64)trace_symbol("PyTuple_Type");
	trace_dispatch_3_11.get_state = frames.entries.get_state;
	return has_all && trace_dispatch_3_11.function_type != 0 &&
	       trace_dispatch_3_11.tuple_type != 0;
}

static void *stub_of(u32 opcode)
{
	for (size_t i = 0; i < STUB_COUNT; i++) {
		if (hooks[i].opcode == opcode)
			return *(void *const *)&hooks[i].stub;
	}
	return NULL;
}

/*
 * Those of builtins are not there if nobody wants these; when nothing is traced yet, all are.
 */
static bool is_in(const struct dispatch_hook *stub, enum dispatch_3_11_mode mode)
{
	if (mode == DISPATCH_3_11_WATCHING)
		return true;
	return mode == DISPATCH_3_11_ON && !stub->is_watching_only &&
	       (trace_dispatch_3_11.has_builtins || !stub->is_of_builtins);
}

/* With the dispatch hooks of a mode in their places; the others are as they were. */
static bool write_stubs(enum dispatch_3_11_mode mode)
{
	void *targets[LOOP_TABLE_WORDS];

	for (u32 i = 0; i < LOOP_TABLE_WORDS; i++)
		targets[i] = trace_dispatch_3_11.originals[i];
	for (size_t i = 0; i < STUB_COUNT; i++) {
		if (is_in(&hooks[i], mode))
			targets[hooks[i].opcode] = stub_of(hooks[i].opcode);
	}
	/* Threads of other interpreters may be between two instructions: hooks look at this. */
	__atomic_store_n(&trace_dispatch_3_11.mode, mode, __ATOMIC_RELEASE);
	return trace_eval_loop_write_table(&frames.table, targets);
}

/* The interpreter's member is where it should be: what is set by call is seen there. */
static bool find_evaluator(u64 interpreter)
{
	frames_evaluator **member = (void *)(interpreter + INTERPRETER_EVALUATOR);

	trace_dispatch_3_11.evaluator_at = INTERPRETER_EVALUATOR;
	/* Another tool's: a debugger that was there before us, perhaps. */
	if (frames.evaluator._PyInterpreterState_GetEvalFrameFunc((void *)interpreter) !=
		    trace_dispatch_3_11.evaluate ||
	    *member != NULL)
		return false;
	frames.evaluator._PyInterpreterState_SetEvalFrameFunc((void *)interpreter,
							      trace_dispatch_3_11_evaluate);
	const bool is_found = *member == trace_dispatch_3_11_evaluate;

	frames.evaluator._PyInterpreterState_SetEvalFrameFunc((void *)interpreter,
							      trace_dispatch_3_11.evaluate);
	return is_found && *member == NULL;
}

static bool try_out(u64 interpreter)
{
	frames_evaluator **member = (void *)(interpreter + INTERPRETER_EVALUATOR);

	const struct loop_shape shape = shape_of(frames.layout);

	if (!write_stubs(DISPATCH_3_11_WATCHING) ||
	    !trace_eval_loop_find_places(&shape, &frames.entries,
					 &trace_dispatch_3_11.places) ||
	    !trace_dispatch_3_11.places.is_cframe_fixed)
		return false;
	*member = trace_dispatch_3_11_evaluate;
	if (write_stubs(DISPATCH_3_11_ON) &&
	    trace_eval_loop_test(&shape, &frames.entries, trace_dispatch_3_11.has_builtins))
		return true;
	*member = NULL;
	return false;
}

static bool set_up(u64 state)
{
	const u64 interpreter = loop_word(state + STATE_INTERPRETER);

	const struct loop_shape shape = shape_of(frames.layout);

	if (!find_entries() || !find_evaluator(interpreter) ||
	    !trace_eval_loop_find_table(&shape, &frames.table))
		return false;
	for (u32 i = 0; i < LOOP_TABLE_WORDS; i++)
		trace_dispatch_3_11.originals[i] = frames.table.words[i];
	trace_dispatch_3_11.code = frames.table.code;
	trace_dispatch_3_11.code_bytes = frames.table.code_bytes;
	trace_dispatch_3_11.has_shims = trace_dispatch_3_11.has_builtins && trace_shims_begin();
	const bool had_collector = frames.entries.PyGC_Disable() == 1;
	const bool is_set_up = try_out(interpreter);

	if (!is_set_up)
		write_stubs(DISPATCH_3_11_OFF);
	/*
	 * Classes and their methods hold each other: who asks for all classes is not to see
	 * ours.
	 */
	if (had_collector) {
		frames.entries.PyGC_Enable();
		frames.entries.PyGC_Collect();
	}
	return is_set_up;
}

/* Between two calls that C makes: nothing of the interpreter's is between two instructions. */
static void set_hooks(void *context, bool has_hooks)
{
	frames_evaluator **member = context;

	*member = has_hooks ? trace_dispatch_3_11_evaluate : NULL;
	write_stubs(has_hooks ? DISPATCH_3_11_ON : DISPATCH_3_11_OFF);
}

static void calibrate(u64 state)
{
	const u64 interpreter = loop_word(state + STATE_INTERPRETER);
	const struct trace_python_means means = {
		.context = (void *)(interpreter + INTERPRETER_EVALUATOR),
		.set = set_hooks,
	};

	trace_calibrate_python(&means);
}

static void decide(u64 state)
{
	void *type = NULL, *value = NULL, *traceback = NULL;

	frames.entries.PyErr_Fetch(&type, &value, &traceback);
	const bool is_set_up = set_up(state);

	if (is_set_up) {
		calibrate(state);
		trace_set_status(TRACE_ON);
	} else {
		frames.fall_back();
	}
	frames.entries.PyErr_Restore(type, value, traceback);
	trace_set_means(is_set_up ? TRACE_MEANS_TABLE : TRACE_MEANS_PROFILE);
	trace_audit_remove(&frames.audit);
}

static int on_audit(const char *event, void *arguments, void *data)
{
	(void)event;
	(void)arguments;
	(void)data;
	if (__atomic_load_n(&frames.is_decided, __ATOMIC_RELAXED) != 0 ||
	    trace_area_of_process() == NULL || frames.entries.Py_IsInitialized() == 0)
		return 0;
	const u64 state = (u64)trace_dispatch_3_11.get_state();

	if (state != 0 && __atomic_exchange_n(&frames.is_decided, 1, __ATOMIC_RELAXED) == 0)
		decide(state);
	return 0;
}

/* It is the one that has been set up before, and has not been loaded anew since. */
static bool is_set_up_already(const struct python_layout *layout)
{
	return trace_dispatch_3_11.mode == DISPATCH_3_11_ON &&
	       frames.loop == layout->loop[0].start &&
	       frames.table.words[OPCODE_DO_TRACING] == stub_of(OPCODE_DO_TRACING);
}

bool trace_dispatch_3_11_begin(const struct python_layout *layout, void (*fall_back)(void))
{
	frames.fall_back = fall_back;
	if (is_set_up_already(layout))
		return true;
	frames.layout = layout;
	frames.loop = layout->loop[0].start;
	frames.table.words = NULL;
	trace_dispatch_3_11.mode = DISPATCH_3_11_OFF;
	trace_dispatch_3_11.foreign = NULL;
	trace_dispatch_3_11.has_builtins = !(agent.terms.flags & RING_NO_BUILTINS);
	__atomic_store_n(&frames.is_decided, 0, __ATOMIC_RELAXED);
	return find_entries() && trace_audit_add(on_audit, &frames, &frames.audit);
}

bool trace_dispatch_3_11_is_on(void)
{
	return trace_dispatch_3_11.mode == DISPATCH_3_11_ON;
}
