/*
 * global_reader - finds the variable whose value a function of a few instructions returns.
 *
 * Interpreters have such functions for variables that they do not export:
 *
 *	mov  distance(%rip),%rax          the variable itself, or a slot that points to it
 *	mov  offset(%rax),%rax            a field of it; up to three
 *	ret
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct mem;

/*
 * Stores the address of the value that the function at `function` returns.  False if its code has
 * another form, or a pointer on the way cannot be read.
 */
bool global_reader_find(struct mem *mem, uint64_t function, uint64_t *out_address);
