/*
 * walk_i386 - unwinds the copied stack of a thread that runs 32-bit code.
 *
 * By the rules of .eh_frame, which i386's ABI has all code carry; where there are none, by the
 * frame pointer, if what it leads to stands behind a call.
 */
#pragma once

struct i386_rows;
struct remote;
struct remote_stack;
struct stack_copy;

/*
 * The stack is read in remote->mem.  *rows keeps what was found in files, which processes share;
 * NULL at first, and freed by free().  What was in *stack goes.
 */
void walk_i386(struct remote *remote, struct i386_rows **rows, const struct stack_copy *copy,
	       struct remote_stack *stack);
