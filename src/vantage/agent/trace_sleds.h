/*
 * trace_sleds - functions compiled with -fpatchable-function-entry are given their hook.
 *
 * The compiler has left room in each: instructions that do nothing (a sled), and a table of
 * where they are.  A call is written there, of __fentry__()'s other name; before the program
 * has begun, so that nobody is executing them.
 */
#pragma once

/* In the constructor: in all images there are.  Nothing, the second time. */
void trace_sleds_begin(void);
