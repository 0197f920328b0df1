#include "agent/trace/python/profilers.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "agent/core/images.h"
#include "agent/core/memory.h"
#include "agent/trace/area.h"
#include "agent/trace/python/methods.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/profile_function.h"
#include "agent/trace/python/api.h"
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

/* If it cannot be interposed, trace_profilers_meet() notes its first call. */
static void interpose(void *callable, enum profiler which)
{
	struct trace_method *method =
		callable != NULL ? (struct trace_method *)trace_python_method((u64)callable)
				 : NULL;

	if (method != NULL)
		trace_method_interpose(method, ours[which], &profilers.theirs[which]);
}

static void interpose_attribute(void *object, const char *name, enum profiler which)
{
	void *attribute = python_api.PyObject_GetAttrString(object, name);

	if (attribute == NULL) {
		python_api.PyErr_Clear();
		return;
	}
	interpose(attribute, which);
	python_api.Py_DecRef(attribute);
}

static int wants_to_set(struct dl_phdr_info *info, size_t size, void *map)
{
	(void)size;
	return info->dlpi_addr == ((const struct link_map *)map)->l_addr &&
	       (images_wanted(info, "PyEval_SetProfile") == IMAGES_WANTED ||
		images_wanted(info, "_PyEval_SetProfile") == IMAGES_WANTED ||
		images_wanted(info, "PyInterpreterState_ThreadHead") == IMAGES_WANTED);
}

/* Whether a module's C code may set profile functions: viztracer in a thread, yappi in all. */
static bool may_set_function(void *module)
{
	void *definition = python_api.PyModule_GetDef(module);
	struct link_map *map = NULL;
	Dl_info info;

	return definition != NULL &&
	       dladdr1(definition, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && map != NULL &&
	       dl_iterate_phdr(wants_to_set, map) != 0;
}

/* Looks at a module that was imported. */
static void meet_module(void *module)
{
	const char *name = python_api.PyModule_GetName(module);

	if (name != NULL && strcmp(name, "_lsprof") == 0) {
		void *type = python_api.PyObject_GetAttrString(module, "Profiler");

		if (type != NULL) {
			interpose_attribute(type, "enable", ENABLE);
			interpose_attribute(type, "disable", DISABLE);
			python_api.Py_DecRef(type);
		}
	} else if (name != NULL && strcmp(name, "_xxsubinterpreters") == 0) {
		trace_python_meet_interpreters();
	} else if (trace_python_is_by_function() && may_set_function(module)) {
		trace_note_other_tool();
	}
	python_api.PyErr_Clear();
}

void trace_profilers_begin(u32 place, bool (*is_by_us)(void))
{
	trace_profile_filter_begin(place, is_by_us);
	profilers.is_to_be_found = python_api.is_whole;
}

/* Looks at a module if it was imported before. */
static void meet_imported(void *modules, const char *name)
{
	void *module = python_api.PyDict_GetItemString(modules, name);

	if (module != NULL)
		meet_module(module);
}

/* False: the import system does not exist yet. */
static bool look_for_modules(void)
{
	void *modules = python_api.PySys_GetObject("modules");
	void *imports =
		modules != NULL ? python_api.PyDict_GetItemString(modules, "_imp") : NULL;

	if (imports == NULL)
		return false;
	interpose_attribute(imports, "exec_builtin", EXECUTE_BUILTIN);
	interpose_attribute(imports, "exec_dynamic", EXECUTE_DYNAMIC);
	meet_imported(modules, "_lsprof");
	meet_imported(modules, "_xxsubinterpreters");
	return true;
}

void trace_profilers_look(void)
{
	if (!profilers.is_to_be_found || (trace_python_is_by_function() && !look_for_modules()))
		return;
	profilers.is_to_be_found = false;
	interpose(python_api.PySys_GetObject("setprofile"), SET_PROFILE);
	interpose(python_api.PySys_GetObject("_setprofileallthreads"), SET_PROFILE_OF_ALL);
}

void trace_profilers_meet(u64 address, const struct name_text *qualified)
{
	trace_method_function *const function =
		((const struct trace_method *)address)->function;
	const bool sets = name_text_is(qualified, "sys.setprofile");
	const bool enables = name_text_is(qualified, "_lsprof.Profiler.enable");

	/* The tool's profile function may stay set: we do not notice when it goes. */
	if (trace_python_is_by_function() &&
	    ((sets && function != ours[SET_PROFILE]) || (enables && function != ours[ENABLE])))
		trace_note_other_tool();
	if (name_text_is(qualified, "_xxsubinterpreters.create"))
		trace_python_meet_interpreters();
}
