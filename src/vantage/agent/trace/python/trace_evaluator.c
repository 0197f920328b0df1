#include "vantage/agent/trace/python/trace_evaluator.h"

#include <stddef.h>

#include "abi/python_layout.h"
#include "agent/core/agent.h"
#include "vantage/agent/trace/trace.h"
#include "vantage/agent/trace/trace_audit.h"
#include "vantage/agent/trace/trace_calibrate.h"
#include "vantage/agent/trace/python/trace_evaluator_own.h"
#include "vantage/agent/trace/trace_late.h"
#include "vantage/agent/trace/python/trace_proxies.h"

/* Of bytes, where their text begins; and of an instruction. */
#define BYTES_TEXT 32
#define UNIT_BYTES 2

/* What differs between the versions: Include/internal/pycore_pystate.h, pycore_interp.h. */
struct version {
	u32 version; /* PY_VERSION_HEX >> 16 */
	u16 evaluator_at;
	u16 frame_begun;
	bool is_state;
	u8 first_unused; /* behind the last instruction */
};
static const struct version versions[] = {
	{ 0x0308, 568, 72, false, 164 },
	{ 0x0309, 1400, 72, false, 166 },
	{ 0x030a, 1368, 108, true, 166 },
};

static struct {
	const struct python_layout *layout;
	const struct version *version;
	struct loop_entries entries;
	struct loop_table table;
	struct switch_table switched;
	struct trace_audit audit;
	u64 loop; /* whose tables these are */
	enum evaluator_mode mode;
	u32 is_decided;
	bool has_builtins;
} evaluator;

const struct evaluator_stub trace_evaluator_stubs[EVALUATOR_STUBS] = {
#define X(number, hook) { (number), trace_evaluator_stub_##number },
	EVALUATOR_STUB_MAP(X)
#undef X
};
static const struct evaluator_stub watching[] = {
#define X(number) { (number), trace_evaluator_watch_##number },
	EVALUATOR_WATCH_MAP(X)
#undef X
};
#define COUNT(of) (sizeof(of) / sizeof *(of))

static bool find_entries(void)
{
	trace_evaluator.original = trace_late_symbol("_PyEval_EvalFrameDefault");
	trace_evaluator.next = trace_evaluator.original;
	trace_evaluator.foreign = NULL;
	if (evaluator.layout->version >> 16 == versions[0].version)
		*(void *(**)(void *, int)) & trace_evaluator.ours = trace_evaluator_of_frame;
	else
		*(void *(**)(void *, void *, int)) & trace_evaluator.ours =
			trace_evaluator_of_state;
	trace_evaluator.evaluator_at = evaluator.version->evaluator_at;
	trace_evaluator.frame_begun = evaluator.version->frame_begun;
	trace_evaluator.is_state = evaluator.version->is_state;
	trace_evaluator.tuple_type = (u64)trace_late_symbol("PyTuple_Type");
	const bool has_all = trace_loop_find_entries(&evaluator.entries);

	trace_evaluator.get_state = evaluator.entries.get_state;
	return has_all && trace_evaluator.original != NULL &&
	       trace_objects.function_type != 0 && trace_evaluator.tuple_type != 0;
}

/* The instruction that a frame executes: f_lasti, in bytes or in units. */
static const u8 *instruction_of(u64 frame)
{
	const struct python_layout *layout = evaluator.layout;
	const u64 code = loop_word(frame + FRAME_CODE);
	const s64 position = *(const s32 *)(frame + layout->offsets.frame_position);

	return (const u8 *)loop_word(code + CODE_BYTES) + BYTES_TEXT +
	       (layout->position == PYTHON_POSITION_UNITS ? UNIT_BYTES * position : position);
}

static struct loop_shape shape_of(void)
{
	return (struct loop_shape){ .layout = evaluator.layout,
				    .first_unused = evaluator.version->first_unused,
				    .last_unused = LOOP_TABLE_WORDS - 1,
				    .call = OPCODE_CALL_FUNCTION,
				    .callee_depth = 1,
				    .instruction_of = instruction_of };
}

/* The loop's table with some stubs, or as it was. */
static bool write_loop(const struct evaluator_stub *with, size_t count)
{
	void *targets[LOOP_TABLE_WORDS];

	for (u32 i = 0; i < LOOP_TABLE_WORDS; i++)
		targets[i] = trace_evaluator_originals[i];
	for (size_t i = 0; i < count; i++)
		targets[with[i].opcode] = *(void *const *)&with[i].stub;
	return trace_loop_write_table(&evaluator.table, targets);
}

/* Those of builtins are not there if nobody wants these. */
static bool write_stubs(bool has_stubs)
{
	if (!evaluator.has_builtins)
		return true;
	return write_loop(trace_evaluator_stubs, has_stubs ? EVALUATOR_STUBS : 0) &&
	       trace_evaluator_write_switch(&evaluator.switched, has_stubs);
}

/* What is to be replaced before a call, and by which means it is found. */
static bool find_calls(const struct loop_shape *shape)
{
	if (!evaluator.has_builtins)
		return true;
	if (!trace_proxies_begin() || !trace_loop_find_table(shape, &evaluator.table))
		return false;
	for (u32 i = 0; i < LOOP_TABLE_WORDS; i++)
		trace_evaluator_originals[i] = evaluator.table.words[i];
	if (!trace_evaluator_find_switch(evaluator.layout, evaluator.table.words,
					 &evaluator.switched))
		return false;
	const bool is_found =
		write_loop(watching, COUNT(watching)) &&
		trace_loop_find_places(shape, &evaluator.entries, &trace_evaluator.places);

	return write_loop(NULL, 0) && is_found;
}

static bool try_out(u64 state)
{
	const struct loop_shape shape = shape_of();
	void **member = evaluator_at(state);

	/* Another tool's was there first, a debugger's perhaps; or it is not where we think. */
	if (*member != trace_evaluator.original || !find_calls(&shape))
		return false;
	*member = trace_evaluator.ours;
	if (write_stubs(true) &&
	    trace_loop_test(&shape, &evaluator.entries, evaluator.has_builtins))
		return true;
	*member = trace_evaluator.original;
	write_stubs(false);
	return false;
}

static bool set_up(u64 state)
{
	if (!find_entries())
		return false;
	/* What is collected meanwhile makes no difference to what is counted. */
	const bool is_set_up = try_out(state);

	/*
	 * Classes and their methods hold each other: who asks for all classes is not to see
	 * ours.
	 */
	evaluator.entries.PyGC_Collect();
	return is_set_up;
}

/* Between two calls that C makes: nothing of the interpreter's is between two instructions. */
static void set_hooks(void *context, bool has_hooks)
{
	void **member = context;

	*member = has_hooks ? trace_evaluator.ours : trace_evaluator.original;
	write_stubs(has_hooks);
}

static void decide(u64 state)
{
	void *type = NULL, *value = NULL, *traceback = NULL;

	evaluator.entries.PyErr_Fetch(&type, &value, &traceback);
	const bool is_set_up = set_up(state);

	if (is_set_up) {
		const struct trace_python_means means = { .context = evaluator_at(state),
							  .set = set_hooks };

		trace_calibrate_python(&means);
		evaluator.mode = EVALUATOR_ON;
		trace_set_status(TRACE_ON);
	} else {
		trace_python_fall_back();
	}
	trace_set_means(is_set_up ? TRACE_MEANS_EVALUATOR : TRACE_MEANS_PROFILE);
	evaluator.entries.PyErr_Restore(type, value, traceback);
	trace_audit_remove(&evaluator.audit);
}

static int on_audit(const char *event, void *arguments, void *data)
{
	(void)event;
	(void)arguments;
	(void)data;
	if (__atomic_load_n(&evaluator.is_decided, __ATOMIC_RELAXED) != 0 ||
	    trace_area_of_process() == NULL || evaluator.entries.Py_IsInitialized() == 0)
		return 0;
	const u64 state = (u64)evaluator.entries.get_state();

	if (state != 0 && __atomic_exchange_n(&evaluator.is_decided, 1, __ATOMIC_RELAXED) == 0)
		decide(state);
	return 0;
}

/* It is the one that has been set up before, and has not been loaded anew since. */
static bool is_set_up_already(const struct python_layout *layout)
{
	return evaluator.mode == EVALUATOR_ON && evaluator.loop == layout->loop[0].start &&
	       evaluator.has_builtins &&
	       evaluator.table.words[OPCODE_CALL_FUNCTION] ==
		       *(void *const *)&trace_evaluator_stubs[0].stub;
}

bool trace_evaluator_begin(const struct python_layout *layout)
{
	if (is_set_up_already(layout))
		return true;
	evaluator.layout = layout;
	evaluator.version = NULL;
	for (size_t i = 0; i < COUNT(versions); i++) {
		if (versions[i].version == layout->version >> 16)
			evaluator.version = &versions[i];
	}
	evaluator.loop = layout->loop[0].start;
	evaluator.mode = EVALUATOR_OFF;
	evaluator.has_builtins = !(agent.terms.flags & RING_NO_BUILTINS);
	__atomic_store_n(&evaluator.is_decided, 0, __ATOMIC_RELAXED);
	return evaluator.version != NULL && find_entries() &&
	       trace_audit_add(on_audit, &evaluator, &evaluator.audit);
}

bool trace_evaluator_is_on(void)
{
	return evaluator.mode == EVALUATOR_ON;
}

void trace_evaluator_see_state(u64 state)
{
	if (evaluator.mode == EVALUATOR_ON && *evaluator_at(state) == trace_evaluator.original)
		*evaluator_at(state) = trace_evaluator.ours;
}
