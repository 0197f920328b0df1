/*
 * example - a recording made by hand, as a server under load might leave it.
 */
#pragma once
#include "made.h"

/* Release with made_done(). */
void example_init(struct made *made);
/* Calls of a trace, on two threads. */
void example_init_trace(struct made *made);
/* The wall clock: requests, and threads of a pool that mostly waits. */
void example_init_waits(struct made *made);
/* Python's functions, one of them in the source file. */
void example_init_python(struct made *made, const char *source);
/* Names of bytes that are no UTF-8 or control a terminal, and numbers at their limits. */
void example_init_hostile(struct made *made);
/* What stands below the head of a report. */
const char *example_body_of(const char *text);
