/* monitoring_calls - our callbacks for sys.monitoring's events (CPython 3.12 and later). */
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/names.h"
#include "agent/trace/only.h"
#include "agent/trace/python/monitoring_calls.h"
#include "agent/trace/python/function_calls.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/dispatch.h"
#include "agent/trace/word.h"

struct trace_monitoring_objects trace_monitoring_objects;

/* A callback's result is a reference to None, which is immortal from 3.12 on. */
static void *nothing(void)
{
	return trace_monitoring_objects.none;
}

static void *on_start(void *callable, void *const *arguments, size_t count, void *names)
{
	struct call_stack *calls = trace_of_thread();

	(void)callable;
	(void)count;
	(void)names;
	/* Dispatch hooks, if any, have reported this call. */
	if (calls == NULL || trace_dispatch_is_on() || trace_throttled(calls))
		return nothing();
	trace_enter(calls, trace_function_call((u64)arguments[0], 0), trace_now());
	return nothing();
}

static void *on_end(void *callable, void *const *arguments, size_t count, void *names)
{
	const u64 now = trace_now();
	struct call_stack *calls = trace_of_thread();

	(void)callable;
	(void)count;
	(void)names;
	if (calls != NULL && !trace_dispatch_is_on())
		trace_leave(calls, (u64)arguments[0], 0, now);
	return nothing();
}

/* Exceptions begin and end calls without an instruction that could have a dispatch hook. */
static void *on_throw(void *callable, void *const *arguments, size_t count, void *names)
{
	struct call_stack *calls = trace_dispatch_is_on() ? trace_of_thread() : NULL;

	if (calls == NULL)
		return on_start(callable, arguments, count, names);
	trace_dispatch_enter(calls, (u64)arguments[0]);
	return nothing();
}

static void *on_unwind(void *callable, void *const *arguments, size_t count, void *names)
{
	struct call_stack *calls = trace_dispatch_is_on() ? trace_of_thread() : NULL;

	if (calls == NULL)
		return on_end(callable, arguments, count, names);
	trace_dispatch_leave(calls);
	return nothing();
}

/*
 * With --only, turns off a function's events when the first comes and the function is not wanted,
 * as far as the interpreter can ("local events", PEP 669).  A new code object at the same address
 * has all its events again.
 */
static bool is_hidden(void *const *arguments)
{
	const struct trace_call call = trace_function_call((u64)arguments[0], 0);

	return trace_only_hides(&call, trace_name_of);
}

#define OF_WANTED(event, hidden)                                                             \
	static void *on_wanted_##event(void *callable, void *const *arguments, size_t count, \
				       void *names)                                          \
	{                                                                                    \
		return is_hidden(arguments) ? (hidden)                                       \
					    : on_##event(callable, arguments, count, names); \
	}
OF_WANTED(start, trace_monitoring_objects.disable)
OF_WANTED(throw, nothing())
OF_WANTED(end, trace_monitoring_objects.disable)
OF_WANTED(unwind, nothing())

/* The PyMethodDef of a called C function; 0: no C function. */
static inline u64 method_of(void *const *arguments, size_t count)
{
	const u64 callable = (u64)arguments[2];
	const u64 method = trace_python_method(callable);

	/* As cProfile: list.append() without an object is an error, not a call. */
	if (method != 0 && (count & ~(1ULL << 63)) > 3 &&
	    (u64)arguments[3] == trace_monitoring_objects.missing &&
	    trace_word(callable, trace_objects.object_type) == trace_objects.descriptor_type)
		return 0;
	return method;
}

/* An event that makes no call; not counted if the thread has no calls. */
static void *note_uncounted(enum trace_uncounted what)
{
	struct call_stack *calls = trace_own;

	if (calls != NULL)
		trace_note_uncounted(calls, what);
	return nothing();
}

static bool is_function(u64 callable)
{
	return trace_word(callable, trace_objects.object_type) == trace_objects.function_type;
}

/* Most calls are of Python functions: return early, without reading the clock. */
static void *on_call(void *callable, void *const *arguments, size_t count, void *names)
{
	const u64 called = (u64)arguments[2];

	(void)callable;
	(void)names;
	if (is_function(called))
		return note_uncounted(TRACE_UNCOUNTED_FUNCTION);
	const u64 method = method_of(arguments, count);

	if (method == 0)
		return note_uncounted(TRACE_UNCOUNTED_OTHER);
	const u64 now = trace_now();
	struct call_stack *calls = trace_of_thread();

	if (calls == NULL)
		return nothing();
	trace_begin_builtin(calls, called, method, 0, now);
	return nothing();
}

static void *on_call_end(void *callable, void *const *arguments, size_t count, void *names)
{
	const u64 now = trace_now();
	const u64 method = method_of(arguments, count);
	struct call_stack *calls = method != 0 ? trace_of_thread() : NULL;

	(void)callable;
	(void)names;
	if (method == 0)
		return note_uncounted(TRACE_UNCOUNTED_OTHER);
	if (calls != NULL)
		trace_leave(calls, method, 0, now);
	return nothing();
}

const struct trace_callback trace_callbacks[TRACE_CALLBACKS] = {
	{ "PY_START", on_start, false, false, false, on_wanted_start },
	{ "PY_RESUME", on_start, false, false, false, on_wanted_start },
	{ "PY_THROW", on_throw, false, false, true, on_wanted_throw },
	{ "PY_RETURN", on_end, false, false, false, on_wanted_end },
	{ "PY_YIELD", on_end, false, false, false, on_wanted_end },
	{ "PY_UNWIND", on_unwind, false, false, true, on_wanted_unwind },
	{ "CALL", on_call, true, false, false, NULL },
	{ "C_RETURN", on_call_end, true, true, false, NULL },
	{ "C_RAISE", on_call_end, true, true, false, NULL },
};
