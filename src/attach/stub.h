/*
 * stub - position-independent code that runs in the target before the agent does, and the block
 * of memory by which it communicates with the recorder.
 *
 * Two threads run it.  The first is created by a raw clone, with a control block made by hand
 * (control_block.h): it only has libc create the second, a proper thread, which loads the agent
 * and calls its entry.  No thread of the program waits for either.
 *
 * Within pthread_create() the program's allocator may create a per-thread cache for the first
 * thread.  So that thread ends as libc's threads do, and calls the destructors registered for its
 * end.
 *
 * Every wait is bounded, so nothing remains in the target if the recorder dies: as its last act,
 * the second thread unmaps the block and the stub.
 */
#pragma once
#include <stdint.h>

#include "abi/attach.h"

enum stub_state {
	STUB_STARTING,
	STUB_WANTS_OBJECT, /* object_fd is an empty memfd: fill it, write path, set go */
	STUB_ENTERING,     /* the agent is loaded, and its entry is called */
	STUB_DONE,         /* result has its return value */
	STUB_FAILED,       /* error has the reason */
};

enum stub_go {
	STUB_WAIT,
	STUB_GO,
	STUB_LEAVE, /* do not load the agent; or: the results were read */
};

#define STUB_ERROR_SIZE 400
#define STUB_PATH_SIZE  32

/* A key of pthread_key_create() (glibc, struct pthread_key_struct). */
struct stub_key {
	uint64_t sequence, destructor;
};
#define STUB_KEYS 1024 /* PTHREAD_KEYS_MAX */

struct stub_block {
	/* Addresses of libc's functions in the target. */
	uint64_t pthread_create, pthread_detach, dlopen, dlsym, dlerror, munmap;
	uint64_t call_tls_dtors, getspecific, setspecific;
	const struct stub_key *keys; /* STUB_KEYS of them, libc's */

	uint64_t code, data; /* the two mappings, and their sizes */
	uint64_t code_bytes, data_bytes;
	uint64_t first_thread; /* where its tid is; 0 once it has ended */
	uint64_t thread;

	uint32_t state, go; /* written by the stub; by the recorder */
	int32_t object_fd;
	int32_t connection; /* the recorder's end of order.connection, for it to take */
	int32_t result;     /* of the entry; or pthread_create()'s error */
	uint32_t patience_ms;
	uint32_t was_mapped; /* the process had the agent already */

	char thread_name[16];
	char object_name[32];      /* the memfd's name */
	char soname[32];           /* finds an agent that is mapped already */
	char entry_name[32];       /* the symbol of the agent's entry */
	char path[STUB_PATH_SIZE]; /* of the memfd: "/proc/self/fd/…" */
	char error[STUB_ERROR_SIZE];
	struct attach_order order;
};

/* The bounds of the code to be copied. */
extern const unsigned char stub_begin[] __asm__("__start_fathom_stub")
	__attribute__((visibility("hidden")));
extern const unsigned char stub_end[] __asm__("__stop_fathom_stub")
	__attribute__((visibility("hidden")));
/* Where the first thread begins: the block is in r12. */
__attribute__((visibility("hidden"))) void stub_first(void);
/* The second thread's start function. */
__attribute__((visibility("hidden"))) void *stub_second(void *block);
