/*
 * tls_blocks - reads the initial thread-local variables of another process, to set up a new
 * thread in it.
 *
 * Modules (the program and its libraries) with variables at a fixed distance from the thread
 * pointer (static TLS) are in a list of the dynamic linker's, whose fields' offsets libc exports
 * for debuggers (glibc, nptl_db/structs.def).  No code of the process is called and no lock is
 * taken: if the list changes while it is read, it is read again.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct error;
struct library;
struct maps;

struct tls_block {
	uint64_t offset; /* the block begins so far below the thread pointer */
	uint64_t bytes;
	uint8_t *image; /* its first image_bytes; the rest is zero */
	uint64_t image_bytes;
	/*
	 * The linker's data: the module's number, the generation it was loaded in, its struct
	 * link_map.
	 */
	uint64_t number, generation, map;
};

struct tls_blocks {
	struct tls_block *blocks; /* in the order of their numbers */
	size_t count;
	uint64_t last_number; /* of all modules, also those without such variables */
	uint64_t generation;  /* of the module loaded last */
};

/*
 * libc, linker: the process's libraries.  Free by tls_blocks_free(), whatever the result.
 * -ENOTSUP: the linker's list is not as expected, or keeps changing.
 */
int tls_blocks_read(const struct library *libc, const struct library *linker,
		    const struct maps *maps, struct tls_blocks *out_blocks, struct error *err);
void tls_blocks_free(struct tls_blocks *blocks);
/* How many bytes below the thread pointer they take. */
uint64_t tls_blocks_below(const struct tls_blocks *blocks);
/*
 * Writes a thread's vector of its blocks' addresses (dtv_t; glibc, sysdeps/generic/dl-dtv.h),
 * with spare entries for modules loaded later: tls_blocks_vector_bytes() bytes.
 */
size_t tls_blocks_vector_bytes(const struct tls_blocks *blocks);
void tls_blocks_write_vector(const struct tls_blocks *blocks, uint64_t thread_pointer,
			     void *out_vector);
