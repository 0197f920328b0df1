/*
 * libc - finds what attaching needs of a target's C library: glibc, from 2.34 on.
 *
 * Reads the files of libc and its dynamic linker that the process has mapped, through the
 * process's own root.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/tls_blocks.h"

struct error;
struct maps;

struct attach_libc {
	/* Addresses in the target. */
	uint64_t start, end; /* of the whole library */
	uint64_t pthread_create, pthread_detach, dlopen, dlsym, dlerror, munmap;
	uint64_t syscall_return; /* the instructions `syscall; ret` */
	uint64_t restorer;       /* __restore_rt: mov $15, %rax; syscall */
	/* To end a thread that libc did not create. */
	uint64_t call_tls_dtors, getspecific, setspecific;
	uint64_t keys; /* __pthread_keys: of each key a sequence number and a destructor */

	uint64_t thread_bytes; /* sizeof(struct pthread) */
	uint64_t thread_tid_offset;
	int64_t rseq_offset; /* offset of struct rseq from the thread pointer, if has_rseq */
	bool has_rseq;

	struct tls_blocks tls;
};

/* Frees by attach_libc_done(), on success.  -ENOTSUP: no C library that we can use. */
int attach_libc_find(pid_t pid, const struct maps *maps, struct attach_libc *out_libc,
		     struct error *err);
void attach_libc_done(struct attach_libc *libc);

/* The offset of `bytes` in text, or -1. */
ptrdiff_t attach_find_bytes(const uint8_t *text, size_t text_bytes, const void *bytes,
			    size_t count);
/*
 * The address that both functions load by a lea offset(%rip), %register; one_at, other_at: the
 * functions' addresses.  0: there is none.
 */
uint64_t attach_common_address(const uint8_t *one, uint64_t one_at, const uint8_t *other,
			       uint64_t other_at, size_t bytes);
