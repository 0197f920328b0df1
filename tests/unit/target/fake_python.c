/*
 * What looks like an interpreter, up to a point: a library that exports the names one is found
 * by.
 * VERSION is PY_VERSION_HEX, or not defined; TEXT is what Py_GetVersion() begins with.
 */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default"), used))

#ifdef PYPY
EXPORT int pypy_main_startup;
#else
EXPORT void *PyEval_EvalFrameEx(void *frame);

EXPORT void *PyEval_EvalFrameEx(void *frame)
{
	return frame;
}
#endif

#ifdef VERSION
EXPORT const unsigned long Py_Version = VERSION;
#endif

#ifdef TEXT
EXPORT const char *Py_GetVersion(void);

EXPORT const char *Py_GetVersion(void)
{
	return TEXT;
}
#endif

#ifdef RUNTIME
/* struct _Py_DebugOffsets begins like this. */
EXPORT struct {
	char cookie[8];
	unsigned long version, free_threaded, offsets[125];
} _PyRuntime = { "xdebugpy", RUNTIME };
#endif

#ifdef SYMBOLS
EXPORT char PyInterpreterState_Head[8], PyGILState_GetThisThreadState[8], PyCode_Type[400],
	PyCFunction_Type[400], PyMethodDescr_Type[400], PyType_Type[400], _Py_NoneStruct[16];
#endif

#ifdef LOOP
/* As large as a loop. */
EXPORT const char _PyEval_EvalFrameDefault[LOOP] = { 1 };
#endif
