/*
 * ruby_wait - the methods of Ruby's own in which its threads wait for each other or a time.
 *
 * All of them rest in one futex of the thread's, or, one thread, in a poll of the descriptor that
 * signals are reported by: what for, its innermost method says.
 */
#pragma once
#include <stdbool.h>

#include "abi/wait_state.h"

struct remote_stack;

struct ruby_wait {
	const char *
		method; /* "Mutex#lock"; "Thread::", which names begin with from 3.1 on, is left out */
	enum wait_state state;
	const char *what;  /* it waits for, as reports call it; NULL: as the method is called */
	bool is_condition; /* it has given its Mutex away, and wakes by a signal */
};

/* NULL: the innermost of the stack's methods is none of them. */
const struct ruby_wait *ruby_wait_of(const struct remote_stack *stack);
