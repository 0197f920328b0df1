/*
 * monitoring - traces CPython 3.12 and later by sys.monitoring.
 *
 * Where dispatch hooks count calls (dispatch.h), sys.monitoring reports those that end by an
 * exception; elsewhere, all of them.
 *
 * We are one of an interpreter's six tools, and are called back at the events of all its threads,
 * however these were created.  Other tools (cProfile is tool 2, coverage 1, a debugger 0) work
 * beside ours; sys.setprofile() and sys.settrace() are two more.  Callbacks are objects of a type
 * of our own (python/callback.h).
 *
 * sys.monitoring must be set up by calls into the interpreter, with the GIL, as soon as sys
 * exists.  An audit hook, which can be added before the interpreter starts (PEP 578), is called
 * as soon as something is imported, and removed again when the setup is done, as it would slow
 * audited calls down (python/audit.h).  Each interpreter has tools of its own, so the hook is
 * added again when a thread state of another interpreter is seen (pthread_setspecific(), as in
 * python/profile_function.c).  3.15 keeps thread states elsewhere: there the hook stays.
 */
#include "agent/trace/python/monitoring.h"

#include <stddef.h>
#include <string.h>

#include "abi/python_layout.h"
#include "agent/trace/area.h"
#include "agent/trace/python/audit.h"
#include "agent/trace/python/callback.h"
#include "agent/trace/python/jit.h"
#include "agent/trace/python/monitoring_calls.h"
#include "agent/trace/python/monitoring_tool.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/profilers.h"
#include "agent/trace/python/dispatch.h"
#include "agent/trace/python/api.h"

#define PYTHON_3_15       0x030f0000U
#define MOST_INTERPRETERS 64U
/* Audited events after initialisation, within which the interpreter has set its flags. */
#define LAST_LOOK 1000U
/* An interpreter ends: another may be created at its address. */
#define END_OF_INTERPRETER "cpython.PyInterpreterState_Clear"
/* The list of hooks is about to be freed, perhaps by another allocator than made our entry. */
#define END_OF_HOOKS "cpython._PySys_ClearAuditHooks"

static struct {
	const struct python_layout *layout;
	u64 first_interpreter;
	/* Interpreters that have a tool of ours, up to this many. */
	struct monitored interpreters[MOST_INTERPRETERS];
	struct trace_audit audit;
	u32 is_hook_gone;
	u32 may_have_jit; /* 0: no; else how often it was too early to ask */
	u32 is_installing;
} monitoring;

/* The place of an interpreter in the array; for 0, a free one.  NULL: none. */
static struct monitored *place_of(u64 interpreter)
{
	for (u32 i = 0; i < MOST_INTERPRETERS; i++) {
		if (__atomic_load_n(&monitoring.interpreters[i].interpreter,
				    __ATOMIC_RELAXED) == interpreter)
			return &monitoring.interpreters[i];
	}
	return NULL;
}

/* The place that an interpreter at this address had before; NULL: none. */
static struct monitored *place_before(u64 interpreter)
{
	struct monitored *place = monitoring.interpreters;

	while (place->before != interpreter || place->interpreter != 0) {
		if (++place == monitoring.interpreters + MOST_INTERPRETERS)
			return NULL;
	}
	return place;
}

/* Unless an interpreter may still have to be set up (3.15), or a JIT to be looked for. */
static void remove_hook(void)
{
	if (monitoring.layout->version < PYTHON_3_15 && !monitoring.may_have_jit)
		trace_audit_remove(&monitoring.audit);
}

static bool is_still_set_up(void *module, u64 interpreter)
{
	struct monitored *place = place_before(interpreter);

	if (place == NULL || !trace_tool_is_there(module, monitoring.layout->none))
		return false;
	__atomic_store_n(&place->interpreter, interpreter, __ATOMIC_RELAXED);
	trace_set_status(TRACE_ON);
	return true;
}

static void set_up_interpreter(u64 interpreter)
{
	void *module = python_api.PySys_GetObject("monitoring");
	void *modules = python_api.PySys_GetObject("modules");
	struct monitored *place = place_of(0);

	if (module == NULL || modules == NULL || place == NULL)
		return;
	if (is_still_set_up(module, interpreter)) {
		remove_hook();
		return;
	}
	*place = (struct monitored){ .interpreter = interpreter, .has_calls = true };
	trace_profilers_look();
	if (trace_tool_is_there(module, monitoring.layout->none) ||
	    trace_tool_set_up(module, place))
		trace_set_status(TRACE_ON);
	else if (trace_area_of_process()->status == TRACE_WAITING)
		trace_set_status(TRACE_REFUSED);
	monitoring.may_have_jit = !place->has_calls && trace_jit_may_be(monitoring.layout);
	remove_hook();
}

/* Whether the interpreter has all its flags: it runs the program, or an embedding program does. */
static bool is_begun(const char *event)
{
	return strncmp(event, "cpython.run_", strlen("cpython.run_")) == 0 ||
	       (python_api.Py_IsInitialized() && ++monitoring.may_have_jit > LAST_LOOK);
}

/* If the JIT is on, enables all events: code with events is not compiled (python/jit.h). */
static void look_for_jit(struct monitored *place)
{
	void *module = python_api.PySys_GetObject("monitoring");

	if (module != NULL && trace_jit_is_on()) {
		place->has_calls = true;
		trace_tool_set_events(module, place->tool, place->all);
		trace_set_means(TRACE_MEANS_EVENTS);
	}
	monitoring.may_have_jit = 0;
	remove_hook();
}

/* Called at audited events, of which imports are among the first. */
static int on_audit(const char *event, void *arguments, void *data)
{
	(void)arguments;
	(void)data;
	if (event[0] == 'c' && strcmp(event, END_OF_HOOKS) == 0) {
		trace_audit_remove(&monitoring.audit);
		monitoring.is_hook_gone = 1;
		return 0;
	}
	if (trace_area_of_process() == NULL || python_api.get_state() == NULL)
		return 0;
	const u64 interpreter = (u64)python_api.PyInterpreterState_Get();
	struct monitored *place = place_of(interpreter);

	if (place != NULL && event[0] == 'c' && strcmp(event, END_OF_INTERPRETER) == 0)
		place->interpreter = 0;
	else if (place != NULL && monitoring.may_have_jit && is_begun(event))
		look_for_jit(place);
	if (place != NULL ||
	    __atomic_exchange_n(&monitoring.is_installing, 1, __ATOMIC_ACQUIRE) != 0)
		return 0;
	set_up_interpreter(interpreter);
	__atomic_store_n(&monitoring.is_installing, 0, __ATOMIC_RELEASE);
	return 0;
}

void trace_monitoring_want_calls(u64 interpreter)
{
	struct monitored *place = place_of(interpreter);

	if (place == NULL || place->has_calls)
		return;
	void *module = python_api.PySys_GetObject("monitoring");

	/* This also instruments code that is being executed. */
	place->has_calls = true;
	if (module != NULL)
		trace_tool_set_events(module, place->tool, place->with_calls);
}

/* A bit for each tool that wants CALL events, sys.setprofile() and sys.settrace() included. */
static long tools_with_calls(void *module)
{
	void *events = python_api.PyObject_CallMethod(module, "_all_events", NULL);
	void *tools = events != NULL
			      ? python_api.PyObject_CallMethod(events, "get", "s", "CALL")
			      : NULL;
	const long number = tools != NULL && tools != (void *)monitoring.layout->none
				    ? python_api.PyLong_AsLong(tools)
				    : 0;

	python_api.PyErr_Clear();
	trace_api_drop(tools);
	trace_api_drop(events);
	return number;
}

bool trace_monitoring_is_alone(void)
{
	if (monitoring.layout == NULL)
		return false;
	const struct monitored *place = place_of((u64)python_api.PyInterpreterState_Get());
	void *module = python_api.PySys_GetObject("monitoring");

	return place != NULL && place->has_calls && module != NULL &&
	       tools_with_calls(module) == 1L << place->tool;
}

void trace_monitoring_forget_others(void)
{
	__atomic_store_n(&monitoring.is_installing, 0, __ATOMIC_RELAXED);
}

static void add_hook(void)
{
	if (!trace_audit_add(on_audit, &monitoring, &monitoring.audit))
		trace_set_status(TRACE_REFUSED);
}

void trace_monitoring_begin(const struct python_layout *layout)
{
	/* There may be state of an interpreter that was unloaded. */
	memset(&monitoring, 0, sizeof monitoring);
	monitoring.layout = layout;
	trace_monitoring_objects.none = (void *)layout->none;
	if (!python_api.is_whole || python_api.PyInterpreterState_Get == NULL ||
	    !trace_callback_begin(layout->is_free_threaded)) {
		trace_set_status(TRACE_NO_ENTRY);
		return;
	}
	trace_python_find_objects(layout);
	trace_profilers_begin(0, trace_monitoring_is_alone);
	trace_dispatch_begin(layout);
	add_hook();
}

/* Adds the hook again: our old entry if it was unlinked; else a new one if CPython freed it. */
static void begin_hook(void)
{
	trace_audit_put_back(&monitoring.audit);
	if (monitoring.audit.list == NULL && monitoring.is_hook_gone)
		add_hook();
	monitoring.is_hook_gone = 0;
}

/* The interpreter may be a new one at the address of one that ended: set it up again. */
static void look_again(u64 interpreter)
{
	struct monitored *place = place_of(interpreter);

	if (place != NULL) {
		place->before = interpreter;
		__atomic_store_n(&place->interpreter, 0, __ATOMIC_RELAXED);
	}
	begin_hook();
}

void trace_monitoring_begin_again(void)
{
	if (monitoring.is_hook_gone && monitoring.layout->version >= PYTHON_3_15 &&
	    !python_api.Py_IsInitialized())
		begin_hook();
}

/* A thread has set its thread state, perhaps one of another interpreter. */
void trace_monitoring_see_state(u64 state)
{
	if (monitoring.layout == NULL)
		return;
	const u64 interpreter = *(const u64 *)(state + monitoring.layout->offsets.state_interp);

	if (monitoring.first_interpreter == 0)
		monitoring.first_interpreter = interpreter;
	else if (interpreter != monitoring.first_interpreter || !python_api.Py_IsInitialized())
		look_again(interpreter);
}
