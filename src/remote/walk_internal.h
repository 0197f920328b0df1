/*
 * walk_internal - what the native walk and the interpreters' frames share.
 */
#pragma once
#include "remote/memory.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/ruby.h"
#include "remote/stack.h"
#include "walk/python.h"

struct walk_states;

/* One walk. */
struct walk {
	struct remote *remote;
	struct mem *mem;
	struct remote_stack *stack;
	const struct walk_states *states;
	bool is_resting; /* the thread stands still in a system call */
	/* Python's, if has_python. */
	struct python_walk python;
	bool has_python, has_given_up;
	uint32_t activations;  /* of the loop, that were met */
	uint8_t python_status; /* enum walk_status */
	bool is_doubtful;      /* the innermost activation was interrupted itself */
	/* Ruby's: an address in the innermost loop's instructions, if it was met first. */
	uint64_t ruby_core;
	uint32_t ruby_marks;
};

void walk_python_begin(struct walk *walk);
/* The frame that was stored last reaches from sp to cfa, and is an activation of the loop. */
void walk_python_meet(struct walk *walk, uint64_t sp, uint64_t cfa, bool is_exact);
/* The native walk ended as walk->stack->ending says. */
void walk_python_end(struct walk *walk);

/* Behind both interpreters' frames: adds the C functions that Python's frames call, of a thread that rests. */
void walk_builtins(struct walk *walk);

/* The frame that was stored last is at an address of the interpreter's code. */
void walk_ruby_meet(struct walk *walk, uint64_t address);
void walk_ruby_end(struct walk *walk);
