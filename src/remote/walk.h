/*
 * walk - walks the stack of a blocked thread, given its registers, with interpreters' frames.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "remote/registers.h"

struct remote;
struct remote_stack;

/* The time limit of a walk, by stack_clock_ns(), whatever the program has put on the stack. */
#define WALK_STACK_MOST_NS 2000000000ULL

/* The interpreters' states of the thread; 0: it has none. */
struct walk_states {
	uint64_t python; /* PyThreadState */
	uint64_t ruby;   /* rb_execution_context_t */
};

/* Clears *stack first. */
void walk_stack(struct remote *remote, const struct walk_registers *registers,
		const struct walk_states *states, struct remote_stack *stack);
