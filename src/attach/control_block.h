/*
 * control_block - builds a thread control block by hand, for a thread that libc did not create.
 *
 * It has as much as pthread_create() and its callees need: pointers to itself, a vector of the
 * thread's TLS blocks (tls_blocks.h), and the canaries of the other threads.  Offsets are those
 * of glibc, sysdeps/x86_64/nptl/tls.h (tcbhead_t).
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

/* The bytes below the thread pointer: all thread-local variables. */
size_t control_block_below(const struct attach_libc *libc);
/* The bytes from the thread pointer on. */
size_t control_block_bytes(const struct attach_libc *libc);
/* Where the kernel writes the thread's tid, and 0 when it ends. */
uint64_t control_block_tid_place(const struct control_block_input *input);
/* Where struct rseq has cpu_id, to be set to "not registered"; 0: no such field. */
uint64_t control_block_processor_place(const struct control_block_input *input);
/* Writes control_block_bytes() bytes. */
void control_block_write(const struct control_block_input *input, void *out_block);
