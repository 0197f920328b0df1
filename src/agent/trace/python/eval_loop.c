#include "agent/trace/python/eval_loop.h"

#include <stddef.h>

#include "agent/trace/python/symbols.h"

bool trace_eval_loop_find_entries(struct loop_entries *entries)
{
	/* ISO C has no way from an object's pointer to a function's; POSIX has. */
	*(void **)&entries->get_state = trace_symbol_of_state();
	return TRACE_SYMBOLS_FIND(entries, LOOP_ENTRY_MAP) && entries->get_state != NULL;
}

bool trace_eval_loop_run(const struct loop_entries *entries, void *code, long *out_number)
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
