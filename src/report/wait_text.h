/*
 * wait_text - what a thread waits for, from the system call that is the leaf of its stack.
 *
 *	futex(Lock at app.py:12)    Lock at app.py:12
 *	clock_nanosleep             sleep
 *	recvfrom(10.0.0.7:5432)     recvfrom(10.0.0.7:5432)
 */
#pragma once
#include <stdbool.h>

struct text;

/* Adds the object; true if it is one of the program's own, false if it is the call itself. */
bool wait_text_add(struct text *out, const char *call);
