#include "vantage/agent/trace/python/trace_loop.h"

#include <stddef.h>

#include "vantage/agent/trace/trace_late.h"

bool trace_loop_find_entries(struct loop_entries *entries)
{
	bool has_all = true;

	/* POSIX has dlsym() give functions as object pointers; ISO C does not. */
#define X(name, result, arguments)                           \
	*(void **)&entries->name = trace_late_symbol(#name); \
	has_all = has_all && entries->name != NULL;
	LOOP_ENTRY_MAP(X)
#undef X
	*(void **)&entries->PyGC_Disable = trace_late_symbol("PyGC_Disable");
	*(void **)&entries->PyGC_Enable = trace_late_symbol("PyGC_Enable");
	*(void **)&entries->get_state = trace_late_symbol("PyThreadState_GetUnchecked");
	if (entries->get_state == NULL)
		*(void **)&entries->get_state =
			trace_late_symbol("_PyThreadState_UncheckedGet");
	return has_all && entries->get_state != NULL;
}

bool trace_loop_run(const struct loop_entries *entries, void *code, long *out_number)
{
	void *globals = entries->PyDict_New();
	void *builtins = entries->PyEval_GetBuiltins();

	if (globals == NULL || builtins == NULL ||
	    entries->PyDict_SetItemString(globals, "__builtins__", builtins) != 0)
		return false;
	void *result = entries->PyEval_EvalCode(code, globals, globals);
	void *number = result != NULL ? entries->PyDict_GetItemString(globals, "r") : NULL;

	if (number != NULL)
		*out_number = entries->PyLong_AsLong(number);
	if (result != NULL)
		entries->Py_DecRef(result);
	else
		entries->PyErr_Clear();
	/* Functions hold the dict that holds them. */
	entries->PyDict_Clear(globals);
	entries->Py_DecRef(globals);
	return number != NULL;
}
