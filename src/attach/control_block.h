/*
 * control_block - a thread control block made by hand, for a thread that libc did not make.
 *
 * As far as pthread_create() needs it: the block points to itself, has a vector of no thread-local
 * blocks, the canaries of the other threads, and libc's own variables below it as they are when a
 * thread begins.  Offsets: glibc, sysdeps/x86_64/nptl/tls.h (tcbhead_t).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct attach_libc;

/* Of each module that has variables near the thread pointer and is not libc: zeros. */
#define CONTROL_BLOCK_BELOW 32768

struct control_block_input {
	const struct attach_libc *libc;
	uint64_t thread_pointer; /* a multiple of 64 */
	uint64_t vector;         /* of zeros, 64 bytes of them */
	uint64_t stack_guard, pointer_guard;
};

/* The bytes from the thread pointer on. */
size_t control_block_bytes(const struct attach_libc *libc);
/* Where the kernel writes the thread's number, and 0 at its end. */
uint64_t control_block_tid_place(const struct control_block_input *input);
/* Writes control_block_bytes(). */
void control_block_write(const struct control_block_input *input, void *out_block);
