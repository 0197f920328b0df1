/*
 * libc - what attaching needs of a target's C library: glibc from 2.34 on.
 *
 * Found in the file that the process has mapped, through its own root.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct maps;

struct attach_libc {
	/* Addresses in the target. */
	uint64_t start, end; /* of the whole library */
	uint64_t pthread_create, pthread_detach, dlopen, dlsym, dlerror, munmap;
	uint64_t syscall_return; /* the instructions `syscall; ret` */
	uint64_t restorer;       /* __restore_rt: mov $15, %rax; syscall */

	/* Its thread-local variables: so far below the thread pointer, and their first values. */
	uint64_t tls_offset, tls_bytes;
	uint8_t *tls_image; /* tls_image_bytes; the rest is zero */
	uint64_t tls_image_bytes;

	uint64_t thread_bytes; /* sizeof(struct pthread) */
	uint64_t thread_tid_offset;
};

/* On success to be done with attach_libc_done().  -ENOTSUP: it has none that we can use. */
int attach_libc_find(pid_t pid, const struct maps *maps, struct attach_libc *out_libc,
		     struct error *err);
void attach_libc_done(struct attach_libc *libc);

/* The offset of `bytes` in the text, or -1. */
ptrdiff_t attach_find_bytes(const uint8_t *text, size_t text_bytes, const void *bytes,
			    size_t count);
/*
 * Of __errno_location()'s code (mov offset(%rip), %rax; add %fs:0, %rax) the place of the offset of
 * errno from the thread pointer; address: the code's.  0: it is other code.
 */
uint64_t attach_errno_slot(const uint8_t *code, size_t bytes, uint64_t address);
