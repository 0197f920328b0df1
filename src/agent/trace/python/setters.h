/*
 * setters - extension modules that set profile functions themselves, up to 3.11.
 *
 * By PyEval_SetProfile() (viztracer), or in all thread states, to which they come by
 * PyInterpreterState_ThreadHead() (yappi).  Nothing tells of that, nor that they are gone.  But
 * somebody calls such a module to begin and to end: so ours stand before all its functions, and
 * look whether the calling thread has another profile function after the call than before.
 */
#pragma once

/* A module has been executed, where calls are seen by a profile function; with the GIL. */
void trace_setters_meet(void *module);
