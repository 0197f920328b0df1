/*
 * ruby_wait - Ruby's built-in methods in which threads wait for each other or for a time.
 *
 * All of them block in one futex of the thread or, for one thread, in a poll on the descriptor
 * that reports signals: only the innermost method shows the reason.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/wait_state.h"

struct remote_stack;

struct ruby_wait {
	const char *
		method; /* "Mutex#lock"; without "Thread::", which it begins with from 3.1 on */
	enum wait_state state;
	const char *what; /* is waited for, in reports; NULL: the method's name */
	uint8_t flags;
};
#define RUBY_WAIT_CONDITION 1U /* it has released its Mutex and waits for a signal */
/* In other system calls than futex, or than Ruby's own, the method waits for what these are on. */
#define RUBY_WAIT_FUTEX 2U
#define RUBY_WAIT_OWN   4U
/* In select(2), the method waits for descriptors; otherwise it has been given none. */
#define RUBY_WAIT_UNSELECTED 8U

/* Whether Ruby implements its own waits by this system call, too: others show what they wait for. */
bool ruby_wait_is_in(int64_t call);
/* NULL: the stack's innermost method is none of them, or waits in another system call. */
const struct ruby_wait *ruby_wait_of(const struct remote_stack *stack, int64_t call);
