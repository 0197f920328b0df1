/*
 * stub - the code that runs in the target before the agent does, position independent, and the
 * block of memory that it and the recorder talk by.
 *
 * Two threads run it.  The first is made by a raw clone, with a control block that was made by
 * hand (control_block.h): it does nothing but have libc create the second, a proper thread, which
 * loads the agent and calls its entry.  No thread of the program waits for either.
 *
 * In pthread_create() the program's allocator may give the first thread a cache of its own.  So
 * that thread ends as libc's do: what was registered for its end is called.
 *
 * Each wait is bounded, so that the target is rid of it when the recorder dies: the last act of
 * the second thread is to unmap the block and the stub.
 */
#pragma once
#include <stdint.h>

#include "abi/attach.h"

enum stub_state {
	STUB_STARTING,
	STUB_WANTS_OBJECT, /* object_fd is an empty memfd: fill it, write path, set go */
	STUB_ENTERING,     /* the agent is loaded, and its entry is called */
	STUB_DONE,         /* result is what it returned */
	STUB_FAILED,       /* error says why */
};

enum stub_go {
	STUB_WAIT,
	STUB_GO,
	STUB_LEAVE, /* in place of GO; or: what it had to say was read */
};

#define STUB_ERROR_SIZE 400
#define STUB_PATH_SIZE  32

/* A key of pthread_key_create() (glibc, struct pthread_key_struct). */
struct stub_key {
	uint64_t sequence, destructor;
};
#define STUB_KEYS 1024 /* PTHREAD_KEYS_MAX */

struct stub_block {
	/* Addresses in the target: of libc's functions. */
	uint64_t pthread_create, pthread_detach, dlopen, dlsym, dlerror, munmap;
	uint64_t call_tls_dtors, getspecific, setspecific;
	const struct stub_key *keys; /* STUB_KEYS of them, libc's */

	uint64_t code, data; /* the two mappings, and their sizes */
	uint64_t code_bytes, data_bytes;
	uint64_t first_thread; /* where its tid is; 0 once it has ended */
	uint64_t thread;

	uint32_t state, go; /* by the stub; by the recorder */
	int32_t object_fd;
	int32_t connection; /* the recorder's end of order.connection, for it to take */
	int32_t result;     /* of the entry; of pthread_create() if that failed */
	uint32_t patience_ms;
	uint32_t was_mapped; /* the agent was there before */

	char thread_name[16];
	char object_name[32];      /* of the memfd */
	char soname[32];           /* by which an agent that is mapped is found */
	char entry_name[32];       /* in the agent */
	char path[STUB_PATH_SIZE]; /* of the object: "/proc/self/fd/…" */
	char error[STUB_ERROR_SIZE];
	struct attach_order order;
};

/* The code, to be copied: it begins with stub_first's instructions. */
extern const unsigned char stub_begin[] __asm__("__start_fathom_stub")
	__attribute__((visibility("hidden")));
extern const unsigned char stub_end[] __asm__("__stop_fathom_stub")
	__attribute__((visibility("hidden")));
/* What the first thread begins with: the block is in r12. */
__attribute__((visibility("hidden"))) void stub_first(void);
/* What the second begins with. */
__attribute__((visibility("hidden"))) void *stub_second(void *block);
