/*
 * global_reader - which variable a function of a few instructions returns the value of.
 *
 * Interpreters have such functions for what they do not export:
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
 * *out_address: where the value stands that the function at `function` returns.  False if its
 * instructions are others, or a pointer on the way is not there.
 */
bool global_reader_find(struct mem *mem, uint64_t function, uint64_t *out_address);
