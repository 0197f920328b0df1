/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * attach - the order that the recorder hands to an agent loaded into a running process.
 *
 * The recorder writes the order into the target's memory; a thread that the recorder has started
 * there calls the agent's entry with it, and the agent connects to the recorder as any other does
 * (abi/handshake.h).  An agent stays mapped: the next attach, by any fathom, calls the same
 * entry.  The entry's name ends with the number of this layout, so that one of another layout is
 * not called.
 */
#pragma once
#include "abi/types.h"

#define ATTACH_ENTRY       "fathom_attach_1"
#define ATTACH_OBJECT      "libfathom-agent-record.so" /* its SONAME */
#define ATTACH_FILE        "fathom-agent"              /* the memfd that it is loaded from */
#define ATTACH_THREAD      "fathom-attach" /* the name of our threads in the target */
#define ATTACH_MEMORY      "/memfd:" ATTACH_FILE
#define ATTACH_SOCKET_SIZE 108 /* of sun_path */

enum attach_wish {
	ATTACH_ENTER,
	ATTACH_LEAVE, /* the recorder is ending: give up the ring */
};

struct attach_order {
	u32 bytes;            /* sizeof this */
	u32 wish;             /* enum attach_wish */
	u32 main_thread;      /* whether main_thread_pointer is known */
	u32 follows_children; /* whether agents in children of fork register, too */
	u64 main_thread_pointer;
	/*
	 * A connection to the recorder for the first handshake, which the agent closes; -1: none.
	 * Needs no path: the target may have another root than the recorder.
	 */
	s32 connection;
	char socket[ATTACH_SOCKET_SIZE]; /* where the recorder listens, for later handshakes */
};

/* The entry's return value. */
enum attach_result {
	ATTACH_ENTERED,    /* the agent has a ring */
	ATTACH_NO_ANSWER,  /* the recorder did not answer, or not with a ring */
	ATTACH_IS_SAMPLED, /* another recorder samples the process */
	ATTACH_BAD_ORDER,  /* of another layout */
	ATTACH_TRAP_USED,  /* the program has set an action for SIGTRAP */
	ATTACH_HAS_LEFT,
};
