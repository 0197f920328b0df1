#include "agent/trace/python/monitoring_tool.h"

#include <stddef.h>

#include "agent/trace/area.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/only.h"
#include "agent/trace/python/api.h"
#include "agent/trace/python/callback.h"
#include "agent/trace/python/dispatch.h"
#include "agent/trace/python/monitoring_calls.h"

/* Tool numbers for which sys.monitoring has no name. */
#define FIRST_TOOL 4
#define LAST_TOOL  3
#define TOOL_NAME  "fathom"

/* The bit of an event; 0: no event has that name. */
static int event_bit(void *events, const char *name)
{
	void *number = python_api.PyObject_GetAttrString(events, name);
	const long bit = number != NULL ? python_api.PyLong_AsLong(number) : 0;

	trace_api_drop(number);
	return bit > 0 ? (int)bit : 0;
}

/* Drops a call's result; false (and the exception cleared) if the call failed. */
static bool is_done(void *result)
{
	if (result == NULL)
		python_api.PyErr_Clear();
	return trace_api_drop(result);
}

/* Calibration enables events for its own functions only: the program is not traced yet. */
struct calibrated {
	void *module;
	int tool, events;
};

static bool trace_function(void *context, void *code)
{
	const struct calibrated *calibrated = context;

	return is_done(python_api.PyObject_CallMethod(calibrated->module, "set_local_events",
						      "iOi", calibrated->tool, code,
						      calibrated->events));
}

static void calibrate(void *module, int tool, int events)
{
	struct calibrated calibrated = { module, tool, events };
	const struct trace_python_means means = { .context = &calibrated,
						  .prepare = trace_function };

	trace_calibrate_python(&means);
}

/* Takes the reference to the callback. */
static bool set_callback(void *module, int tool, int event, void *callback)
{
	const bool is_set = event != 0 && callback != NULL &&
			    is_done(python_api.PyObject_CallMethod(
				    module, "register_callback", "iiO", tool, event, callback));

	trace_api_drop(callback);
	return is_set;
}

bool trace_tool_set_events(void *module, int tool, int events)
{
	return is_done(
		python_api.PyObject_CallMethod(module, "set_events", "ii", tool, events));
}

/* Sets of events: all, those for single functions, the others, and those of C calls. */
struct wanted {
	int all, of_functions, global, calls;
};

static bool set_each_callback(void *module, void *events, int tool, void *type,
			      struct wanted *out_wanted)
{
	*out_wanted = (struct wanted){ 0 };
	for (size_t i = 0; i < TRACE_CALLBACKS; i++) {
		const struct trace_callback *callback = &trace_callbacks[i];
		const int bit = event_bit(events, callback->event);

		if (callback->is_of_builtins && !trace_wishes.has_builtins)
			continue;
		if (!set_callback(module, tool, bit,
				  trace_callback_make(type, callback->callback)))
			return false;
		if (callback->is_implied)
			continue;
		out_wanted->all |= bit;
		*(callback->is_global ? &out_wanted->global : &out_wanted->of_functions) |= bit;
		out_wanted->calls |= callback->is_of_builtins ? bit : 0;
	}
	return true;
}

static bool set_callbacks_of_wanted(void *module, void *events, int tool, void *type)
{
	for (size_t i = 0; trace_only_is_on() && i < TRACE_CALLBACKS; i++) {
		trace_vectorcall *function = trace_callbacks[i].of_wanted;

		if (function != NULL &&
		    !set_callback(module, tool, event_bit(events, trace_callbacks[i].event),
				  trace_callback_make(type, function)))
			return false;
	}
	return true;
}

/*
 * Sets up dispatch hooks, which need the events that no instruction shows.  Not with --only:
 * events of unwanted functions can be turned off, dispatch hooks cannot.
 */
static bool has_dispatch(void *module, int tool, const struct wanted *wanted)
{
	if (trace_only_is_on() || !trace_tool_set_events(module, tool, wanted->global))
		return false;
	if (trace_dispatch_set_up())
		return true;
	trace_tool_set_events(module, tool, 0);
	return false;
}

static bool set_callbacks(void *module, void *events, int tool, struct monitored *place)
{
	void *type = trace_callback_make_type();
	struct wanted wanted;

	if (type == NULL || !set_each_callback(module, events, tool, type, &wanted))
		return false;
	place->tool = tool;
	place->all = wanted.all;
	place->with_calls = wanted.global | wanted.calls;
	place->has_calls = !has_dispatch(module, tool, &wanted);
	if (place->has_calls)
		calibrate(module, tool, wanted.of_functions);
	trace_set_means(place->has_calls ? TRACE_MEANS_EVENTS : TRACE_MEANS_TABLE);
	return set_callbacks_of_wanted(module, events, tool, type) &&
	       (!place->has_calls || trace_tool_set_events(module, tool, wanted.all));
}

bool trace_tool_set_up(void *module, struct monitored *place)
{
	void *events = python_api.PyObject_GetAttrString(module, "events");
	void *missing = python_api.PyObject_GetAttrString(module, "MISSING");
	bool is_set = false;

	trace_monitoring_objects.missing = (u64)missing;
	trace_monitoring_objects.disable = python_api.PyObject_GetAttrString(module, "DISABLE");
	for (int tool = FIRST_TOOL; tool >= LAST_TOOL && events != NULL && !is_set; tool--) {
		if (is_done(python_api.PyObject_CallMethod(module, "use_tool_id", "is", tool,
							   TOOL_NAME)))
			is_set = set_callbacks(module, events, tool, place);
	}
	python_api.PyErr_Clear();
	trace_api_drop(events);
	return is_set;
}

bool trace_tool_is_there(void *module, u64 none)
{
	bool is_ours = false;

	for (int tool = FIRST_TOOL; tool >= LAST_TOOL && !is_ours; tool--) {
		void *name = python_api.PyObject_CallMethod(module, "get_tool", "i", tool);
		void *same = name != NULL ? python_api.PyObject_CallMethod(name, "__eq__", "s",
									   TOOL_NAME)
					  : NULL;

		is_ours = same != NULL && same != (void *)none &&
			  python_api.PyLong_AsLong(same) == 1;
		python_api.PyErr_Clear();
		trace_api_drop(same);
		trace_api_drop(name);
	}
	return is_ours;
}
