/* walk_internal - state shared by the native walk and the walks of interpreters' frames. */
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
	bool is_resting; /* the thread is blocked in a system call */
	/* Python's walk, valid if has_python. */
	struct python_walk python;
	bool has_python, has_given_up;
	uint32_t activations;  /* native frames of the eval loop seen so far */
	uint8_t python_status; /* enum walk_status */
	bool is_doubtful;      /* the innermost activation was itself interrupted */
	bool is_astray;        /* the native walk ended at an address that no call returns to */
	/* Ruby: an address in the innermost interpreter loop, if the walk met that first. */
	uint64_t ruby_core;
	uint32_t ruby_marks;
};

void walk_python_begin(struct walk *walk);
/*
 * Called for a frame of the eval loop: the last stored frame, which reaches from sp to cfa.  False:
 * it lies beyond the outermost frame of a stack that was switched to, as a greenlet's, and was
 * taken away.
 */
bool walk_python_meet(struct walk *walk, uint64_t sp, uint64_t cfa, bool is_exact);
/* Called when the native walk has ended, as walk->stack->ending says. */
void walk_python_end(struct walk *walk);

/*
 * After both interpreters' walks: adds the C functions that Python frames of a blocked thread
 * call.
 */
void walk_builtins(struct walk *walk);

/* Called when the last stored frame's address is in the interpreter's code. */
void walk_ruby_meet(struct walk *walk, uint64_t address);
void walk_ruby_end(struct walk *walk);
