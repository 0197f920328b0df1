/*
 * trace_profilers - other profilers, where calls are seen by a profile function (trace_python.c).
 *
 * A thread has one such function, so that ours is gone while a program has set its own.  When that
 * is taken away again, nothing tells: sys.setprofile(None) and cProfile's disable() leave none.  So
 * functions of ours stand before these, in the interpreter's tables of methods, from when one
 * sets a function first.  They call them, and look what the thread has then.  Profilers that
 * C sets (PyEval_SetProfile()) are not seen.
 */
#pragma once
#include "abi/types.h"

struct name_text;

/* A C function is about to be called for the first time: its PyMethodDef, and "sys.setprofile". */
void trace_profilers_meet(u64 method, const struct name_text *qualified);
