/*
 * dlopened - interpreters that come into a process after it has begun.
 *
 * A program that embeds an interpreter may load it when it pleases, itself or as what a plug-in
 * of its needs.  Hooks have to be there before that interpreter begins, and the recorder would
 * see it some milliseconds later.  dlopen() reports nothing: what it finds depends on its
 * caller, so it is not interposed.  But an interpreter that begins calls functions that
 * we do interpose (pthread_setspecific(), getenv()), and the first call that comes from an
 * image which was not there at the start is answered when the recorder has looked at it.
 */
#pragma once
/* A function that an interpreter calls as it begins was called from there. */
void trace_dlopened_look(const void *caller);
/* Images may have gone. */
void trace_dlopened_flush(void);
