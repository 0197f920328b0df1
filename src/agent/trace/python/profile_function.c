/*
 * profile_function - traces CPython 3.6 to 3.11 by a profile function on every thread state.
 *
 * On 3.11 only where dispatch hooks cannot be set (python/dispatch.h).
 *
 * Up to 3.11 the interpreter calls a function at each call and return that is set in the thread
 * state (c_profilefunc).  PyEval_SetProfile() sets it for the calling thread, with the GIL.  We
 * need it in every thread from its first instruction, also in threads created in C.  Each thread
 * stores its new thread state by pthread_setspecific() (PyThread_tss_set() of pystate.c's
 * autoTSSkey), when no other code can know it yet and it has executed nothing.  So we set the
 * members there, as PyEval_SetProfile() does, except for c_profileobj: sys.getprofile() still
 * returns None.
 *
 * If the program sets a profile function of its own, it replaces ours in that thread
 * (python/profilers.h).
 */
#include <stddef.h>

#include "agent/control/region_python.h"
#include "agent/core/arch.h"
#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/python/function_calls.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/profile_function.h"
#include "agent/trace/python/api.h"
#include "agent/trace/word.h"

/* Offsets of what PyEval_SetProfile() sets in a thread state (each version's pystate.h). */
struct profile_members {
	u32 first, last; /* PY_VERSION_HEX >> 16 */
	u16 function;    /* c_profilefunc */
	u16 flag;        /* use_tracing; or cframe, if has_cframe */
	bool has_cframe; /* use_tracing is the first member of cframe */
	bool is_byte;    /* use_tracing is a byte, all ones */
};

static const struct profile_members members_of[] = {
	{ 0x0306, 0x0306, 48, 44, false, false },
	{ 0x0307, 0x0309, 56, 48, false, false },
	{ 0x030a, 0x030a, 56, 48, true, false },
	{ 0x030b, 0x030b, 64, 56, true, true },
};

/* From 3.11 on a PyFrameObject is a handle of the frame: PyFrameObject.f_frame. */
#define HANDLE_TO_FRAME 24

static struct {
	const struct profile_members *members;              /* NULL: do not set it */
	const struct profile_members *members_to_fall_back; /* for 3.11 */
	bool has_audit_hook;
	bool is_calibrated;
} python;

/* The executing frame, from an event's frame object. */
static u64 frame_of(const struct python_layout *layout, u64 object)
{
	return layout->chain == PYTHON_CHAIN_OBJECTS ? object
						     : trace_word_at(object + HANDLE_TO_FRAME);
}

static u64 code_of(const struct python_layout *layout, u64 frame)
{
	return trace_word_at(frame + layout->offsets.frame_code);
}

static bool is_beginning(int what)
{
	return what == TRACE_PROFILE_CALL || what == TRACE_PROFILE_C_CALL;
}

/* Py_tracefunc. */
static int on_profile(void *object, void *frame_object, int what, void *argument)
{
	struct call_stack *calls = trace_of_thread();

	(void)object;
	if (calls == NULL || (trace_throttled(calls) && is_beginning(what)))
		return 0;
	const u64 now = trace_now();
	const struct python_layout *layout = trace_layout();

	if (layout == NULL)
		return 0;
	const u64 frame = frame_of(layout, (u64)frame_object);

	if (what == TRACE_PROFILE_CALL) {
		trace_enter(calls, trace_function_call(code_of(layout, frame), frame), now);
	} else if (what == TRACE_PROFILE_RETURN) {
		trace_leave(calls, code_of(layout, frame), frame, now);
	} else if (trace_wishes.has_builtins &&
		   (what == TRACE_PROFILE_C_CALL || what == TRACE_PROFILE_C_RETURN ||
		    what == TRACE_PROFILE_C_EXCEPTION)) {
		trace_builtin_event(calls, frame, what == TRACE_PROFILE_C_CALL, (u64)argument,
				    now);
	}
	return 0;
}

u32 trace_profile_begin(const struct python_layout *layout)
{
	__builtin_memset(&python, 0, sizeof python);
	for (size_t i = 0; i < sizeof members_of / sizeof *members_of; i++) {
		const u32 version = layout->version >> 16;

		if (version >= members_of[i].first && version <= members_of[i].last)
			python.members = &members_of[i];
	}
	return python.members != NULL ? python.members->function : 0;
}

void trace_profile_put_off(void)
{
	python.members_to_fall_back = python.members;
	python.members = NULL;
}

static void write_flag(const struct profile_members *members, void *flag, bool is_on)
{
	if (members->is_byte)
		*(u8 *)flag = is_on ? 255 : 0;
	else
		*(int *)flag = is_on;
}

/* As PyEval_SetProfile() does; the thread has executed nothing yet, so there is no race. */
static void set_function(const struct profile_members *members, u64 state)
{
	u64 flag = state + members->flag;

	if (members->has_cframe)
		flag = trace_word_at(flag);
	if (flag == 0)
		return;
	*(u64 *)(state + members->function) = (u64)on_profile;
	write_flag(members, (void *)flag, true);
	trace_set_status(TRACE_ON);
}

/* Sets the function in threads that have begun already; later threads get it as they begin. */
void trace_python_fall_back(void)
{
	const struct python_layout *layout = trace_layout();
	const struct python_offsets *offsets = &layout->offsets;
	void *(*const head)(void) = (void *(*)(void))layout->head_function;
	u64 interpreter = head != NULL ? (u64)head() : 0;

	python.members = python.members_to_fall_back;

	for (; interpreter != 0;
	     interpreter = trace_word_at(interpreter + offsets->interp_next)) {
		u64 state = trace_word_at(interpreter + offsets->interp_threads);

		for (; state != 0; state = trace_word_at(state + offsets->state_next)) {
			if (trace_word_at(state + python.members->function) == 0)
				set_function(python.members, state);
		}
	}
}

static bool is_of_python(const struct trace_entry *entry)
{
	return entry->kind == TRACE_KIND_PYTHON || entry->kind == TRACE_KIND_PYTHON_BUILTIN ||
	       entry->kind == TRACE_KIND_PYTHON_METHOD;
}

/* innermost: the executing frame; it has no C call under way except the one that called us. */
static bool has_ended(const struct trace_entry *entry, u64 state, u64 innermost)
{
	const bool is_function = entry->kind == TRACE_KIND_PYTHON;

	if (!is_of_python(entry))
		return false;
	return (!is_function && entry->frame == innermost) ||
	       !region_python_has_frame(state, entry->frame, is_function ? entry->object : 0);
}

/*
 * Ends calls that must be over, after another tool had the profile function.  What was called
 * meanwhile is unknown, but the running frames are known: other calls that began before have
 * ended, and so has the C function of the innermost frame that set the tool's function.
 */
static void close_ended(struct call_stack *calls, u64 state)
{
	u64 innermost[2] = { 0 };
	const u64 now = trace_now();
	const u64 level = arch_stack_pointer();

	region_python_frames(state, innermost);
	trace_take(calls, level);
	while (calls->top > calls->entries && has_ended(calls->top, state, innermost[0]))
		trace_pop(calls, now);
	/* Calls without an entry may have ended, too; if not, their ends will find no entry. */
	calls->unstacked = 0;
	trace_advance(calls, now);
	if (!trace_give(calls, level))
		trace_skip(calls);
}

/* The calling thread's state; 0: none, or this version is not traced by profile functions. */
static u64 own_state(void)
{
	return python.members != NULL && python_api.get_state != NULL
		       ? (u64)python_api.get_state()
		       : 0;
}

static u64 own_function(void)
{
	const u64 state = own_state();

	return state != 0 ? trace_word_at(state + python.members->function) : 0;
}

static void put_back(u64 state)
{
	struct call_stack *calls = trace_area_of_process() != NULL ? trace_of_thread() : NULL;

	if (calls != NULL)
		close_ended(calls, state);
	set_function(python.members, state);
}

bool trace_python_put_back(void)
{
	const u64 state = own_state();
	const u64 function = own_function();

	if (state != 0 && function == 0)
		put_back(state);
	return function != 0 && function != (u64)on_profile;
}

bool trace_python_has_function(void)
{
	return own_function() == (u64)on_profile;
}

/* use_tracing of the calling thread's state; NULL: the thread does not have our function. */
static void *flag_in_use(void)
{
	const u64 state = own_state();

	if (state == 0 || trace_word_at(state + python.members->function) != (u64)on_profile)
		return NULL;
	return (void *)(python.members->has_cframe ? trace_word_at(state + python.members->flag)
						   : state + python.members->flag);
}

/* Switches the profile function on or off for calls from here on. */
static void set_hooks(void *context, bool has_hooks)
{
	void *flag = flag_in_use();

	(void)context;
	if (flag != NULL)
		write_flag(python.members, flag, has_hooks);
}

/* A pending call, made between two instructions of the main thread. */
static int calibrate(void *unused)
{
	const struct trace_python_means means = {
		.set = set_hooks,
		/* From 3.10 on every instruction checks the flag. */
		.slows_bytecode = python.members->has_cframe,
	};

	(void)unused;
	if (flag_in_use() != NULL)
		trace_calibrate_python(&means);
	return 0;
}

void trace_python_calibrate(void)
{
	if (python.members == NULL ||
	    __atomic_exchange_n(&python.is_calibrated, true, __ATOMIC_RELAXED))
		return;
	if (python_api.is_whole)
		python_api.Py_AddPendingCall(calibrate, NULL);
}

bool trace_python_is_by_function(void)
{
	return python.members != NULL;
}

void trace_python_see_state(u64 state)
{
	if (python.members != NULL && trace_word_at(state + python.members->function) == 0)
		set_function(python.members, state);
}

/* At audited events, such as "exec", a new interpreter's first code (PEP 578). */
static int on_audit(const char *event, void *arguments, void *data)
{
	const u64 state = trace_area_of_process() != NULL ? (u64)python_api.get_state() : 0;

	(void)event;
	(void)arguments;
	(void)data;
	if (state != 0)
		trace_python_see_state(state);
	return 0;
}

/* Whether new interpreters must be noticed; with 3.11's dispatch hooks, each is when it calls. */
static bool meets_interpreters(void)
{
	const struct python_layout *layout = trace_layout();

	return python.members != NULL ||
	       (layout != NULL && layout->chain == PYTHON_CHAIN_OBJECTS);
}

/* From 3.8 on; makes audited calls slower by 0.1 us. */
void trace_python_meet_interpreters(void)
{
	if (python_api.PySys_AddAuditHook != NULL && python_api.get_state != NULL &&
	    meets_interpreters() &&
	    !__atomic_exchange_n(&python.has_audit_hook, true, __ATOMIC_RELAXED))
		python_api.PySys_AddAuditHook(on_audit, &python);
}
