/*
 * api - functions and variables of the traced CPython, looked up by name.
 *
 * They are looked up in the interpreter's own image: they may be absent from the global scope
 * (RTLD_LOCAL), or be another interpreter's there.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "abi/types.h"
#include "agent/core/entries.h"

/* Functions that every version from 3.6 on must have. */
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

/* Functions that later versions added; NULL: absent. */
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
	/* The thread's PyThreadState, or NULL; PyThreadState_GetUnchecked() from 3.13 on. */
	void *(*get_state)(void);
	bool is_whole; /* all of the first list were found, and get_state */
};
extern struct python_api python_api;

/* Looks all of them up in the interpreter of trace_layout(), before any is called. */
void trace_api_find(void);
/* Drops a reference, if there is one. */
static inline bool trace_api_drop(void *object)
{
	if (object != NULL)
		python_api.Py_DecRef(object);
	return object != NULL;
}

/* The address of a function or variable of the traced interpreter, or NULL. */
void *trace_symbol(const char *name);
/* Compiles a module's source: a new reference; NULL: it failed. */
void *trace_api_compile(const char *source);
/* Executes a module's code in a new dict, which the caller drops.  NULL: failed, no error set. */
void *trace_api_run(void *code);
void trace_api_drop_names(void *names);
/* The same; reads the number that the code assigned to r.  False: it failed, or there is none. */
bool trace_api_run_for_number(void *code, long *out_number);
/* Whether a loaded program or library imports this symbol; uses of dlsym() are not seen. */
bool trace_symbol_is_wanted(const char *name);
