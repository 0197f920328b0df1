#include "agent/trace/python/jit.h"

#include <stddef.h>

#include "abi/python_layout.h"
#include "agent/trace/python/api.h"

#define PYTHON_3_13 0x030d0000U
#define PYTHON_3_14 0x030e0000U

/* 3.13: only builds with a JIT have it; it returns NULL if the JIT is off (Python/optimizer.c). */
static void *optimizer_function(void)
{
	return trace_symbol("_Py_GetOptimizer");
}

bool trace_jit_may_be(const struct python_layout *layout)
{
	return layout->version >= PYTHON_3_14 ||
	       (layout->version >= PYTHON_3_13 && optimizer_function() != NULL);
}

/* From 3.14 on: sys._jit.is_enabled(). */
static bool answers_yes(void)
{
	void *module = python_api.PySys_GetObject("_jit");
	void *answer = module != NULL
			       ? python_api.PyObject_CallMethod(module, "is_enabled", NULL)
			       : NULL;
	const bool is_on = answer != NULL && python_api.PyLong_AsLong(answer) == 1;

	python_api.PyErr_Clear();
	trace_api_drop(answer);
	return is_on;
}

bool trace_jit_is_on(void)
{
	void *(*get_optimizer)(void);

	*(void **)&get_optimizer = optimizer_function();
	if (get_optimizer == NULL)
		return answers_yes();
	void *optimizer = get_optimizer();

	trace_api_drop(optimizer);
	return optimizer != NULL;
}
