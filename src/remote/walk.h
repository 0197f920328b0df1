/*
 * walk - the stack of a thread that rests, from its registers, with the frames of interpreters.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct remote;
struct remote_stack;

#define WALK_REGISTERS 33 /* by DWARF number; x86-64 has 17, of which 16 is rip */

/* The registers that a walk begins with. */
struct walk_registers {
	uint64_t pc, sp;     /* pc 0: none are known; there may be an interpreter's frames */
	uint64_t fp, bx, lr; /* if has_all */
	bool has_all;        /* else pc and sp only */
	uint64_t all[WALK_REGISTERS]; /* if has_all */
	bool is_in_call;              /* pc is behind the instruction of a system call */
};

/* The interpreters' states of the thread; 0: it has none. */
struct walk_states {
	uint64_t python; /* PyThreadState */
	uint64_t ruby;   /* rb_execution_context_t */
};

/* What was in *stack goes. */
void walk_stack(struct remote *remote, const struct walk_registers *registers,
		const struct walk_states *states, struct remote_stack *stack);
