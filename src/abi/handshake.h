/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * handshake - what an agent and the recorder say to each other, once for each
 * process image, over a SOCK_SEQPACKET socket in a folder that only the user can enter.
 *
 * The agent says hello and waits, for a bounded time; the recorder opens its events,
 * answers, and hands over the ring's memory (SCM_RIGHTS).  Then both close: nothing of ours
 * stays open in the target.
 */
#pragma once
#include "abi/types.h"

#define HANDSHAKE_MAGIC           0x66746d32U /* changes with the messages' layout */
#define HANDSHAKE_SOCKET_VARIABLE "FATHOM_AGENT_SOCKET"
/* How long a program waits for a recorder that does not answer. */
#define HANDSHAKE_TIMEOUT_MS 250

enum handshake_occasion {
	HANDSHAKE_START, /* the agent's constructor */
	HANDSHAKE_FORK,  /* a child of a process that has an agent */
};

struct handshake_hello {
	u32 magic;
	u32 occasion;
	u32 pid, tid;  /* as the process sees them */
	u64 time_ns;   /* CLOCK_MONOTONIC */
	char name[16]; /* the program's, for one that is gone before it is answered */
};

enum handshake_verdict {
	HANDSHAKE_SAMPLE, /* with the ring's descriptor */
	HANDSHAKE_LEAVE,  /* this process is not to be sampled */
};

struct handshake_answer {
	u32 magic;
	u32 verdict;
	u64 ring_bytes;
};
