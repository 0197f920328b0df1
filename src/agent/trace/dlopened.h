/*
 * dlopened - starts tracing interpreters that are loaded after the process has started.
 *
 * A program that embeds an interpreter may load it at any time, itself or as a dependency of a
 * plug-in.  Hooks must be set before that interpreter starts, and the recorder would see it some
 * milliseconds later.  dlopen() cannot report it: its result depends on its caller's address, so it
 * is not interposed.  But a starting interpreter calls functions that we do interpose
 * (pthread_setspecific(), getenv()): the first such call from an image that was not loaded at the
 * start asks the recorder to look for an interpreter, and waits until it has.
 */
#pragma once
/* `caller` called a function that a starting interpreter calls. */
void trace_dlopened_look(const void *caller);
/* Images may have been unloaded. */
void trace_dlopened_flush(void);
