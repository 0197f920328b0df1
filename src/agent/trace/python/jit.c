#include "agent/trace/python/jit.h"

#include <stddef.h>

#include "abi/python_layout.h"
#include "agent/trace/python/symbols.h"

#define PYTHON_3_13 0x030d0000U
#define PYTHON_3_14 0x030e0000U

/* 3.13: there in builds that can compile only, and NULL where that is off (Python/optimizer.c). */
static void *optimizer_function(void)
{
	return trace_symbol("_Py_GetOptimizer");
}

bool trace_jit_may_be(const struct python_layout *layout)
{
	return layout->version >= PYTHON_3_14 ||
	       (layout->version >= PYTHON_3_13 && optimizer_function() != NULL);
}

static void drop(void *object)
{
	void (*drop_reference)(void *);

	*(void **)&drop_reference = trace_symbol("Py_DecRef");
	if (object != NULL && drop_reference != NULL)
		drop_reference(object);
}

/* From 3.14 on: sys._jit.is_enabled(). */
static bool answers_yes(void)
{
	void *(*get_object)(const char *);
	void *(*call)(void *, const char *, const char *, ...);
	long (*as_long)(void *);
	void (*clear)(void);

	*(void **)&get_object = trace_symbol("PySys_GetObject");
	*(void **)&call = trace_symbol("PyObject_CallMethod");
	*(void **)&as_long = trace_symbol("PyLong_AsLong");
	*(void **)&clear = trace_symbol("PyErr_Clear");
	if (get_object == NULL || call == NULL || as_long == NULL || clear == NULL)
		return false;
	void *module = get_object("_jit");
	void *answer = module != NULL ? call(module, "is_enabled", NULL) : NULL;
	const bool is_on = answer != NULL && as_long(answer) == 1;

	clear();
	drop(answer);
	return is_on;
}

bool trace_jit_is_on(void)
{
	void *(*get_optimizer)(void);

	*(void **)&get_optimizer = optimizer_function();
	if (get_optimizer == NULL)
		return answers_yes();
	void *optimizer = get_optimizer();

	drop(optimizer);
	return optimizer != NULL;
}
