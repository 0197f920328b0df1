/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * attach - what is handed to an agent that is loaded into a process which runs already.
 *
 * The recorder writes the order into memory of the target; a thread of the recorder's making
 * calls the agent's entry with it, and the agent says hello by its socket as any other does
 * (abi/handshake.h).  An agent stays mapped: the next attach, by whichever fathom, calls the same
 * entry.  Its name has the number of this layout, so that one of another layout is not called.
 */
#pragma once
#include "abi/types.h"

#define ATTACH_ENTRY       "fathom_attach_1"
#define ATTACH_OBJECT      "libfathom-agent-record.so" /* its SONAME */
#define ATTACH_FILE        "fathom-agent"              /* the memfd that it is loaded from */
#define ATTACH_THREAD      "fathom-attach" /* the threads of ours that do so, while they live */
#define ATTACH_MEMORY      "/memfd:" ATTACH_FILE
#define ATTACH_SOCKET_SIZE 108 /* of sun_path */

enum attach_wish {
	ATTACH_ENTER,
	ATTACH_LEAVE, /* what samples it is gone: the ring is not needed any more */
};

struct attach_order {
	u32 bytes;            /* sizeof this */
	u32 wish;             /* enum attach_wish */
	u32 main_thread;      /* whether the next is known */
	u32 follows_children; /* whether children of fork say hello */
	u64 main_thread_pointer;
	/*
	 * A connection to the recorder for the first hello, which the agent closes; -1: none.  It needs
	 * no path: the target may see other files than the recorder does.
	 */
	s32 connection;
	char socket[ATTACH_SOCKET_SIZE]; /* where the recorder listens, for what comes later */
};

/* What the entry returns. */
enum attach_result {
	ATTACH_ENTERED,    /* it has a ring */
	ATTACH_NO_ANSWER,  /* the recorder did not answer, or not with a ring */
	ATTACH_IS_SAMPLED, /* another recorder has it */
	ATTACH_BAD_ORDER,  /* of another layout */
	ATTACH_TRAP_USED,  /* SIGTRAP has an action of the program's */
	ATTACH_HAS_LEFT,
};
