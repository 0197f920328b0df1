/*
 * wait_text - what a thread waits for, out of the system call that is the leaf of its stack.
 *
 *	futex(Lock at app.py:12)    Lock at app.py:12
 *	clock_nanosleep             sleep
 *	recvfrom(10.0.0.7:5432)     recvfrom(10.0.0.7:5432)
 */
#pragma once
#include <stdbool.h>

struct text;

/* True if it was an object of the program's own, and false if it is the call. */
bool wait_text_add(struct text *out, const char *call);
