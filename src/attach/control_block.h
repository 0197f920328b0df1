/*
 * control_block - a thread control block made by hand, for a thread that libc did not make.
 *
 * As far as pthread_create() needs it, and what that calls: the block points to itself, has a
 * vector of the thread's blocks (tls_blocks.h), and the canaries of the other threads.  Offsets:
 * glibc, sysdeps/x86_64/nptl/tls.h (tcbhead_t).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct attach_libc;

struct control_block_input {
	const struct attach_libc *libc;
	uint64_t thread_pointer; /* a multiple of a page: no variable is aligned to more */
	uint64_t vector;
	uint64_t stack_guard, pointer_guard;
};

/* The bytes of memory below the thread pointer: all its variables. */
size_t control_block_below(const struct attach_libc *libc);
/* The bytes from the thread pointer on. */
size_t control_block_bytes(const struct attach_libc *libc);
/* Where the kernel writes the thread's number, and 0 at its end. */
uint64_t control_block_tid_place(const struct control_block_input *input);
/* Where struct rseq has the processor, which is one of no thread that is registered; or 0. */
uint64_t control_block_processor_place(const struct control_block_input *input);
/* Writes control_block_bytes(). */
void control_block_write(const struct control_block_input *input, void *out_block);
