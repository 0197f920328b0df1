/*
 * walk_i386 - unwinds the copied stack of a thread that runs 32-bit code.
 *
 * Uses the rules of .eh_frame, which the i386 ABI requires of all code; where there are none,
 * the frame pointer, if the return address it leads to follows a call.
 */
#pragma once

struct i386_rows;
struct remote;
struct remote_stack;
struct stack_copy;

/*
 * Reads the stack through remote->mem. *rows caches rules found in files, for all processes;
 * NULL at first, and freed by free(). Clears *stack first.
 */
void walk_i386(struct remote *remote, struct i386_rows **rows, const struct stack_copy *copy,
	       struct remote_stack *stack);
