/*
 * api - functions and variables of the CPython that is traced, by their names; the agent is linked
 * with none.
 *
 * They are looked up where it is: they may not be in the global scope (RTLD_LOCAL), or be another's
 * there.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "abi/types.h"
#include "agent/core/entries.h"

/* What is called of every version from 3.6 on. */
#define PYTHON_API_MAP(X)                                                            \
	X(Py_AddPendingCall, int, (int (*function)(void *), void *argument))         \
	X(Py_CompileString, void *, (const char *source, const char *name, int how)) \
	X(Py_DecRef, void, (void *object))                                           \
	X(Py_IncRef, void, (void *object))                                           \
	X(Py_IsInitialized, int, (void))                                             \
	X(PyCapsule_GetPointer, void *, (void *capsule, const char *name))           \
	X(PyCapsule_IsValid, int, (void *capsule, const char *name))                 \
	X(PyDict_Clear, void, (void *dict))                                          \
	X(PyDict_GetItemString, void *, (void *dict, const char *key))               \
	X(PyDict_New, void *, (void))                                                \
	X(PyDict_Next, int, (void *dict, s64 *at, void **out_key, void **out_value)) \
	X(PyDict_SetItemString, int, (void *dict, const char *key, void *value))     \
	X(PyErr_Clear, void, (void))                                                 \
	X(PyErr_Fetch, void, (void **type, void **value, void **traceback))          \
	X(PyErr_Occurred, void *, (void))                                            \
	X(PyErr_Restore, void, (void *type, void *value, void *traceback))           \
	X(PyEval_EvalCode, void *, (void *code, void *globals, void *locals))        \
	X(PyEval_GetBuiltins, void *, (void))                                        \
	X(PyGC_Collect, ssize_t, (void))                                             \
	X(PyLong_AsLong, long, (void *number))                                       \
	X(PyModule_GetDef, void *, (void *module))                                   \
	X(PyModule_GetName, const char *, (void *module))                            \
	X(PyObject_CallMethod, void *,                                               \
	  (void *object, const char *name, const char *format, ...))                 \
	X(PyObject_CallObject, void *, (void *callable, void *arguments))            \
	X(PyObject_GetAttr, void *, (void *object, void *name))                      \
	X(PyObject_GetAttrString, void *, (void *object, const char *name))          \
	X(PyObject_Repr, void *, (void *object))                                     \
	X(PyObject_Str, void *, (void *object))                                      \
	X(PySys_GetObject, void *, (const char *name))                               \
	X(PyType_FromSpec, void *, (void *spec))                                     \
	X(PyType_GenericAlloc, void *, (void *type, ssize_t items))

/* And of later ones; NULL: this one has it not. */
#define PYTHON_API_LATER_MAP(X)                                                                \
	X(PySys_AddAuditHook, int,                                                             \
	  (int (*hook)(const char *event, void *arguments, void *data), void *data)) /* 3.8 */ \
	X(PyInterpreterState_Get, void *, (void))                                    /* 3.9 */ \
	X(PyVectorcall_Call, void *, (void *callable, void *tuple, void *map))       /* 3.9 */ \
	X(PyGC_Disable, int, (void)) /* 3.10 */                                                \
	X(PyGC_Enable, int, (void))  /* 3.10 */

PYTHON_API_MAP(ENTRY_TYPE)
PYTHON_API_LATER_MAP(ENTRY_TYPE)

struct python_api {
	PYTHON_API_MAP(ENTRY_MEMBER)
	PYTHON_API_LATER_MAP(ENTRY_MEMBER)
	/*
	 * The calling thread's PyThreadState, or NULL: PyThreadState_GetUnchecked(), which has
	 * another name up to 3.12.
	 */
	void *(*get_state)(void);
	bool is_whole; /* all of the first list are there, and get_state is */
};
extern struct python_api python_api;

/* Of the interpreter whose layout is known (area.h): before anything of it is called. */
void trace_api_find(void);
/* Drops a reference, if there is one. */
static inline bool trace_api_drop(void *object)
{
	if (object != NULL)
		python_api.Py_DecRef(object);
	return object != NULL;
}

/* A function or variable of the traced interpreter; NULL: it has none of that name. */
void *trace_symbol(const char *name);
/* The code of a module's source, a new reference; NULL: it failed. */
void *trace_api_compile(const char *source);
/*
 * Executes a module's code with names of its own (a dict), which are the caller's to drop: NULL if
 * it failed, and no exception is set.
 */
void *trace_api_run(void *code);
void trace_api_drop_names(void *names);
/* The same, for the number that it has called r.  False: it failed, or has none. */
bool trace_api_run_for_number(void *code, long *out_number);
/*
 * Whether a program or library that is loaded uses a name of another's: one that it would find
 * by dlsym() is not seen.
 */
bool trace_symbol_is_wanted(const char *name);
