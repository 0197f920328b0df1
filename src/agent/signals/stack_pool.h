/*
 * stack_pool - signal stacks of one size, used by one thread after another.
 *
 * The first lies in the agent's own data: a process with one thread maps nothing.  Others are
 * mapped sixteen at a time and are never unmapped, since the next thread takes one that was given
 * back: its pages are there.  No page protects their ends.  No lock is taken.
 */
#pragma once

#include <stddef.h>

/*
 * Our handler needs a fifth of it.  A handler of the program's may run on it as well
 * (altstack.h), and 64 KiB is what such handlers are written for (LLVM's, Go's).  Only pages
 * that are written take memory.
 */
#define STACK_POOL_BYTES ((size_t)64 << 10)

/* Takes a stack: its lowest address, or NULL: all are in use, or memory is short. */
void *stack_pool_take(void);
/* Gives back a stack that was taken; NULL: does nothing. */
void stack_pool_give(void *stack);
/* In a child of fork, where no other thread is: all stacks but this one, or NULL, are free. */
void stack_pool_forget_others(const void *stack);
