#include "agent/trace/python/dispatch.h"

#include <stddef.h>

#include "abi/python_layout.h"
#include "agent/trace/area.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/python/callable_shims.h"
#include "agent/trace/python/dispatch_internal.h"
#include "agent/trace/python/eval_frame.h"
#include "agent/trace/python/api.h"

static const struct dispatch_hook {
	void (*code)(void);
	bool is_of_builtins, is_watching_only;
} hooks[DISPATCH_HOOKS] = {
#define X(number, name, hook, is_of_builtins, ...) \
	[number] = { trace_dispatch_entry_##number, (is_of_builtins), false },
	DISPATCH_MAP(X)
#undef X
#define X(number, name, hook, is_of_builtins, ...) \
	[number] = { trace_dispatch_entry_##number, (is_of_builtins), true },
		DISPATCH_WATCH_MAP(X)
#undef X
};

static struct {
	const struct python_layout *layout;
	struct loop_table table;
	void *originals[LOOP_TABLE_WORDS];
	u64 loop; /* start of the loop whose table this is */
	bool is_tried;
} own;

/* dispatch_x86_64.S relies on these. */
_Static_assert(DISPATCH_ON_3_11 == 3 && offsetof(struct trace_dispatch, mode) == 0, "mode");
_Static_assert(offsetof(struct trace_dispatch, originals) == 8, "originals");
_Static_assert(offsetof(struct trace_eval_frame, foreign) == 8, "another tool's");
_Static_assert(EVAL_FRAME_OF_INTERPRETER == 1424 && EVAL_FRAME_INTERPRETER == 16,
	       "the interpreter's function");
_Static_assert(HOOK_BEFORE_CALL_PY_EXACT_ARGS == 15 && HOOK_BEFORE_CALL_PY_WITH_DEFAULTS == 16,
	       "what enters functions on 3.11");

/* The code that replaces the entry of this hook's instruction. */
static void *code_of(u32 number)
{
	void (*code)(void) = hooks[number].code;

	if (trace_dispatch.row.has_eval_frame && number == HOOK_BEFORE_CALL_PY_EXACT_ARGS)
		code = trace_dispatch_enter_15;
	if (trace_dispatch.row.has_eval_frame && number == HOOK_BEFORE_CALL_PY_WITH_DEFAULTS)
		code = trace_dispatch_enter_16;
	/* ISO C has no way between functions' and objects' pointers; POSIX has. */
	return *(void *const *)&code;
}

/* Whether 3.11 enters Python functions, too, by the hook's instruction. */
static bool calls_functions(u32 number)
{
	return trace_dispatch.row.has_eval_frame &&
	       (number == HOOK_BEFORE_CALL || number == HOOK_BEFORE_CALL_PY_EXACT_ARGS ||
		number == HOOK_BEFORE_CALL_PY_WITH_DEFAULTS);
}

/*
 * Whether a hook is set in this mode: hooks for builtins only if their calls are wanted; all
 * while the loop is being watched.
 */
static bool is_in(u32 number, enum dispatch_mode mode)
{
	const struct dispatch_hook *hook = &hooks[number];

	if (mode <= DISPATCH_WATCHING)
		return mode == DISPATCH_WATCHING;
	return !hook->is_watching_only && (trace_dispatch.has_builtins ||
					   !hook->is_of_builtins || calls_functions(number));
}

static bool write_hooks(enum dispatch_mode mode)
{
	void *targets[LOOP_TABLE_WORDS];

	for (u32 i = 0; i < LOOP_TABLE_WORDS; i++)
		targets[i] = own.originals[i];
	for (u32 i = 0; i < DISPATCH_HOOKS; i++) {
		if (trace_dispatch.row.opcodes[i] != 0 && is_in(i, mode))
			targets[trace_dispatch.row.opcodes[i]] = code_of(i);
	}
	/* Other interpreters' threads may have read an old entry: hooks check the mode. */
	__atomic_store_n(&trace_dispatch.mode, mode, __ATOMIC_RELEASE);
	if (trace_dispatch.row.has_eval_frame)
		trace_eval_frame_switch((u64)python_api.get_state(), mode == DISPATCH_ON_3_11);
	return trace_eval_loop_write_table(&own.table, targets);
}

/* Sets hooks that count, or restores the loop's own entries. */
static bool switch_hooks(bool is_on)
{
	const enum dispatch_mode on =
		trace_dispatch.row.has_eval_frame ? DISPATCH_ON_3_11 : DISPATCH_ON;

	return write_hooks(is_on ? on : DISPATCH_OFF);
}

static void set_offsets(const struct python_layout *layout, const struct dispatch_row *row)
{
	const struct python_offsets *offsets = &layout->offsets;
	const bool has_cframe = offsets->state_cframe != PYTHON_NO_FIELD;

	trace_dispatch.row = *row;
	trace_dispatch.shape = (struct loop_shape){ .layout = layout,
						    .first_unused = row->first_unused,
						    .last_unused = row->last_unused,
						    .call = row->opcodes[HOOK_BEFORE_CALL],
						    .callee_depth = row->callee_depth,
						    .tags = row->tags };
	trace_dispatch.state_interpreter = offsets->state_interp;
	trace_dispatch.state_frame = offsets->state_frame;
	trace_dispatch.state_cframe = has_cframe ? offsets->state_cframe : 0;
	trace_dispatch.cframe_frame = has_cframe ? offsets->cframe_frame : 0;
	trace_dispatch.frame_code = offsets->frame_code;
	trace_dispatch.code_flags = offsets->code_flags;
}

static void *first_of(void *first, void *second)
{
	return first != NULL ? first : second;
}

static void keep_originals(void)
{
	void **originals = trace_dispatch.originals;

	for (u32 i = 0; i < LOOP_TABLE_WORDS; i++)
		own.originals[i] = own.table.words[i];
	for (u32 i = 0; i < DISPATCH_HOOKS; i++)
		originals[i] = trace_dispatch.row.opcodes[i] != 0
				       ? own.originals[trace_dispatch.row.opcodes[i]]
				       : NULL;
	/* From 3.13 on CALL has a specialised form for all callables but Python functions. */
	trace_dispatch.counts_down = originals[HOOK_BEFORE_CALL_NON_PY_GENERAL] == NULL;
	trace_dispatch.call = first_of(originals[HOOK_BEFORE_CALL_NON_PY_GENERAL],
				       originals[HOOK_BEFORE_CALL]);
	trace_dispatch.call_names = originals[HOOK_BEFORE_CALL_KW_NON_PY];
	trace_dispatch.call_spread = originals[HOOK_BEFORE_CALL_EX_NON_PY_GENERAL];
}

/* Checks all that can be checked before hooks are tried. */
static bool prepare(const struct python_layout *layout)
{
	const struct dispatch_row *row = dispatch_row_of(layout->version >> 16);

	if (row == NULL || layout->is_free_threaded || !python_api.is_whole ||
	    python_api.PyGC_Disable == NULL || !trace_shims_begin())
		return false;
	trace_dispatch.tuple_type = (u64)trace_symbol("PyTuple_Type");
	trace_dispatch.bound_type =
		row->expands_methods ? (u64)trace_symbol("PyMethod_Type") : 0;
	set_offsets(layout, row);
	if (trace_dispatch.tuple_type == 0 ||
	    !trace_eval_loop_find_table(&trace_dispatch.shape, &own.table))
		return false;
	keep_originals();
	return !row->has_eval_frame || trace_eval_frame_is_there((u64)python_api.get_state());
}

/* The trial has many nested frames: no place is right in all of them by chance. */
static void look_for_state(void)
{
	trace_dispatch.places.state = LOOP_TARGET; /* never right: so hooks ask */
	trace_dispatch.places.frame = LOOP_NOWHERE;
	trace_dispatch.state_candidates = trace_dispatch.frame_candidates = ~0ULL;
}

static void have_found_state(void)
{
	if (trace_dispatch.state_candidates != 0)
		trace_dispatch.places.state =
			(u32)__builtin_ctzll(trace_dispatch.state_candidates);
	if (trace_dispatch.frame_candidates != 0)
		trace_dispatch.places.frame =
			(u32)__builtin_ctzll(trace_dispatch.frame_candidates);
	trace_dispatch.state_candidates = trace_dispatch.frame_candidates = 0;
}

static bool try_out(void)
{
	const struct loop_shape *shape = &trace_dispatch.shape;

	if (!write_hooks(DISPATCH_WATCHING) ||
	    !trace_eval_loop_find_places(shape, &trace_dispatch.places))
		return false;
	look_for_state();
	const bool is_right =
		switch_hooks(true) && trace_eval_loop_test(shape, trace_dispatch.has_builtins);

	have_found_state();
	return is_right;
}

/* Called between two calls from C, so that this thread is not between two instructions. */
static void set_hooks(void *context, bool has_hooks)
{
	(void)context;
	switch_hooks(has_hooks);
}

bool trace_dispatch_set_up(void)
{
	void *type = NULL, *value = NULL, *traceback = NULL;

	if (own.is_tried)
		return trace_dispatch_is_on();
	own.is_tried = true;
	if (own.layout == NULL || !prepare(own.layout))
		return false;
	python_api.PyErr_Fetch(&type, &value, &traceback);
	const bool had_collector = python_api.PyGC_Disable() == 1;
	const bool is_right = try_out();

	if (!is_right)
		switch_hooks(false);
	/* Free our classes: a program that lists all classes must not see them. */
	if (had_collector) {
		python_api.PyGC_Enable();
		python_api.PyGC_Collect();
	}
	python_api.PyErr_Restore(type, value, traceback);
	if (is_right)
		trace_calibrate_python(&(struct trace_python_means){ .set = set_hooks });
	return is_right;
}

bool trace_dispatch_is_on(void)
{
	return trace_dispatch.mode >= DISPATCH_ON;
}

/* Whether hooks are set already, and the interpreter was not loaded anew since. */
static bool is_set_up_already(const struct python_layout *layout)
{
	return trace_dispatch_is_on() && own.loop == layout->loop[0].start &&
	       own.table.words[trace_dispatch.row.opcodes[HOOK_BEFORE_RETURN_VALUE]] ==
		       code_of(HOOK_BEFORE_RETURN_VALUE);
}

void trace_dispatch_begin(const struct python_layout *layout)
{
	if (is_set_up_already(layout))
		return;
	own.layout = layout;
	own.loop = layout->loop[0].start;
	own.table.words = NULL;
	own.is_tried = false;
	trace_dispatch.has_builtins = trace_wishes.has_builtins;
	trace_dispatch.mode = DISPATCH_OFF;
}
