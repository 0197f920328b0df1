#include "agent/trace/python/profilers.h"

#include <stddef.h>
#include <string.h>

#include "agent/core/entries.h"
#include "agent/core/memory.h"
#include "agent/trace/area.h"
#include "agent/trace/python/methods.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/profile_function.h"
#include "agent/trace/python/setters.h"
#include "agent/trace/python/symbols.h"
#include "agent/trace/python/profile_filter.h"
#include "walk/name_text.h"

enum profiler {
	SET_PROFILE,
	SET_PROFILE_OF_ALL,
	EXECUTE_BUILTIN,
	EXECUTE_DYNAMIC,
	ENABLE,
	DISABLE,
	PROFILERS,
};

/* What is called of the interpreter. */
#define ENTRY_MAP(X)                                              \
	X(PySys_GetObject, void *, (const char *name))            \
	X(PyDict_GetItemString, void *, (void *, const char *))   \
	X(PyObject_GetAttrString, void *, (void *, const char *)) \
	X(PyModule_GetName, const char *, (void *))               \
	X(PyErr_Clear, void, (void))                              \
	X(Py_DecRef, void, (void *))

ENTRY_MAP(ENTRY_TYPE)

static struct entries {
	ENTRY_MAP(ENTRY_MEMBER)
} python;

static struct {
	trace_method_function *theirs[PROFILERS];
	bool is_to_be_found;
} profilers;

static void *call(enum profiler which, void *self, void *second, void *third, void *fourth)
{
	void *result = profilers.theirs[which](self, second, third, fourth);

	if (trace_python_put_back())
		trace_note_other_tool();
	return result;
}

static void *on_set_profile(void *self, void *function, void *third, void *fourth)
{
	struct trace_profile_filter before;

	trace_profile_filter_before(&before);
	void *result = call(SET_PROFILE, self, function, third, fourth);

	trace_profile_filter_after(&before, (u64)function);
	return result;
}

/* From 3.12 on. */
static void *on_set_profile_of_all(void *self, void *function, void *third, void *fourth)
{
	struct trace_profile_filter before;

	trace_profile_filter_before(&before);
	void *result = call(SET_PROFILE_OF_ALL, self, function, third, fourth);

	trace_profile_filter_after_all(&before, (u64)function);
	return result;
}

static void *on_enable(void *self, void *second, void *third, void *fourth)
{
	return call(ENABLE, self, second, third, fourth);
}

static void *on_disable(void *self, void *second, void *third, void *fourth)
{
	return call(DISABLE, self, second, third, fourth);
}

static void meet_module(void *module);

static void *execute(enum profiler which, void *self, void *module, void *third, void *fourth)
{
	void *result = profilers.theirs[which](self, module, third, fourth);

	if (result != NULL)
		meet_module(module);
	return result;
}

static void *on_execute_builtin(void *self, void *module, void *third, void *fourth)
{
	return execute(EXECUTE_BUILTIN, self, module, third, fourth);
}

static void *on_execute_dynamic(void *self, void *module, void *third, void *fourth)
{
	return execute(EXECUTE_DYNAMIC, self, module, third, fourth);
}

static trace_method_function *const ours[PROFILERS] = {
	[SET_PROFILE] = on_set_profile,
	[SET_PROFILE_OF_ALL] = on_set_profile_of_all,
	[EXECUTE_BUILTIN] = on_execute_builtin,
	[EXECUTE_DYNAMIC] = on_execute_dynamic,
	[ENABLE] = on_enable,
	[DISABLE] = on_disable,
};

/* Where that cannot be, its first call is noted where calls of C functions are. */
static void stand_before(void *callable, enum profiler which)
{
	struct trace_method *method =
		callable != NULL ? (struct trace_method *)trace_python_method((u64)callable)
				 : NULL;

	if (method != NULL)
		trace_method_stand_before(method, ours[which], &profilers.theirs[which]);
}

static void stand_before_attribute(void *object, const char *name, enum profiler which)
{
	void *attribute = python.PyObject_GetAttrString(object, name);

	if (attribute == NULL) {
		python.PyErr_Clear();
		return;
	}
	stand_before(attribute, which);
	python.Py_DecRef(attribute);
}

/* A module that has been executed. */
static void meet_module(void *module)
{
	const char *name = python.PyModule_GetName(module);

	if (name != NULL && strcmp(name, "_lsprof") == 0) {
		void *type = python.PyObject_GetAttrString(module, "Profiler");

		if (type != NULL) {
			stand_before_attribute(type, "enable", ENABLE);
			stand_before_attribute(type, "disable", DISABLE);
			python.Py_DecRef(type);
		}
	} else if (name != NULL && strcmp(name, "_xxsubinterpreters") == 0) {
		trace_python_meet_interpreters();
	} else if (trace_python_is_by_function()) {
		trace_setters_meet(module);
	}
	python.PyErr_Clear();
}

void trace_profilers_begin(u32 place, bool (*is_by_us)(void))
{
	trace_profile_filter_begin(place, is_by_us);
	profilers.is_to_be_found = TRACE_SYMBOLS_FIND(&python, ENTRY_MAP);
}

/* Of modules that may have been imported before. */
static void meet_imported(void *modules, const char *name)
{
	void *module = python.PyDict_GetItemString(modules, name);

	if (module != NULL)
		meet_module(module);
}

/* Where there are to be modules' as well, the import system has to be there. */
static bool look_for_modules(void)
{
	void *modules = python.PySys_GetObject("modules");
	void *imports = modules != NULL ? python.PyDict_GetItemString(modules, "_imp") : NULL;

	if (imports == NULL)
		return false;
	stand_before_attribute(imports, "exec_builtin", EXECUTE_BUILTIN);
	stand_before_attribute(imports, "exec_dynamic", EXECUTE_DYNAMIC);
	meet_imported(modules, "_lsprof");
	meet_imported(modules, "_xxsubinterpreters");
	return true;
}

void trace_profilers_look(void)
{
	if (!profilers.is_to_be_found || (trace_python_is_by_function() && !look_for_modules()))
		return;
	profilers.is_to_be_found = false;
	stand_before(python.PySys_GetObject("setprofile"), SET_PROFILE);
	stand_before(python.PySys_GetObject("_setprofileallthreads"), SET_PROFILE_OF_ALL);
}

void trace_profilers_meet(u64 address, const struct name_text *qualified)
{
	trace_method_function *const function =
		((const struct trace_method *)address)->function;
	const bool sets = name_text_is(qualified, "sys.setprofile");
	const bool enables = name_text_is(qualified, "_lsprof.Profiler.enable");

	/* What is set stays set, for all that we know. */
	if (trace_python_is_by_function() &&
	    ((sets && function != ours[SET_PROFILE]) || (enables && function != ours[ENABLE])))
		trace_note_other_tool();
	if (name_text_is(qualified, "_xxsubinterpreters.create"))
		trace_python_meet_interpreters();
}
