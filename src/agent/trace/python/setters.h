/*
 * setters - extension modules that set profile functions themselves, up to 3.11.
 *
 * By PyEval_SetProfile() (viztracer), or in all thread states, to which they come by
 * PyInterpreterState_ThreadHead() (yappi).  No event reports that, nor that they are gone.  But
 * such a module is called to begin and to end: so all its functions are interposed, and ours
 * look whether the calling thread has another profile function after the call than before.
 */
#pragma once

/* A module has been executed, where calls are seen by a profile function; with the GIL. */
void trace_setters_meet(void *module);
