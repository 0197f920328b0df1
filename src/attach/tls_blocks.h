/*
 * tls_blocks - the thread-local variables with which a new thread of another process begins.
 *
 * Modules (the program and its libraries) that have some at a fixed distance from the thread
 * pointer are in a list of the dynamic linker's, and where its fields are libc says for debuggers
 * (glibc, nptl_db/structs.def).  Nothing of the process is called, and no lock is taken: what
 * changes while it is read is read again.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct error;
struct library;
struct maps;

struct tls_block {
	uint64_t offset; /* it begins so far below the thread pointer */
	uint64_t bytes;
	uint8_t *image; /* its first image_bytes; the rest is zero */
	uint64_t image_bytes;
	/* As the linker has it: the module's number, when it came, its struct link_map. */
	uint64_t number, generation, map;
};

struct tls_blocks {
	struct tls_block *blocks; /* in the order of their numbers */
	size_t count;
	uint64_t last_number; /* of all modules, those without such variables too */
	uint64_t generation;  /* of the last that came */
};

/*
 * libc, linker: the process's.  To be freed by tls_blocks_free(), whatever the result.  -ENOTSUP:
 * the linker's list is not as it should be, or changes all the time.
 */
int tls_blocks_read(const struct library *libc, const struct library *linker,
		    const struct maps *maps, struct tls_blocks *out_blocks, struct error *err);
void tls_blocks_free(struct tls_blocks *blocks);
/* How many bytes of memory below the thread pointer they take. */
uint64_t tls_blocks_below(const struct tls_blocks *blocks);
/*
 * A thread's vector of its blocks' addresses (dtv_t, glibc, sysdeps/generic/dl-dtv.h), with room
 * for modules to come: tls_blocks_vector_bytes() of it.
 */
size_t tls_blocks_vector_bytes(const struct tls_blocks *blocks);
void tls_blocks_write_vector(const struct tls_blocks *blocks, uint64_t thread_pointer,
			     void *out_vector);
