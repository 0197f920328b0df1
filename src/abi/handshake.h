/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * handshake - what an agent and the recorder say to each other, over a SOCK_SEQPACKET
 * socket in a folder that only the user can enter.
 *
 * The agent says hello and waits, for a bounded time; the recorder does what the occasion
 * asks for, answers, and hands over the ring's memory where one begins (SCM_RIGHTS).  Then
 * both close: nothing of ours stays open in the target.
 */
#pragma once
#include "abi/types.h"

#define HANDSHAKE_MAGIC 0x66746d33U /* changes with the messages' layout */
/* What the recorder's sampling events bear, in si_perf_data: "fathom". */
#define HANDSHAKE_EVENT_MARK 0x666174686f6dULL
/*
 * Where the rate may change while the program runs there are so many events, of which one is on:
 * number n has the mark + n, and 2^n times the ring's period.
 */
#define HANDSHAKE_EVENT_RUNGS 4
/*
 * How long a program waits for a recorder that does not answer.  A trace without one of its
 * processes is of little use, so a busy machine gets more time; which it is the socket's name
 * says.
 */
#define HANDSHAKE_TIMEOUT_MS       1000
#define HANDSHAKE_TRACE_TIMEOUT_MS 3000
#define HANDSHAKE_SOCKET           "/agents"
#define HANDSHAKE_TRACE_SOCKET     "/tracers"

enum handshake_occasion {
	HANDSHAKE_START, /* the agent's constructor */
	HANDSHAKE_FORK,  /* a child of a process that has an agent */
	/* The process asks to be sampled no more; the answer comes when its events are off. */
	HANDSHAKE_STOP,
	HANDSHAKE_RESUME, /* it may be sampled again: what it stopped for is over */
	/*
	 * It has loaded what may have an interpreter; the answer comes when that was looked at.
	 */
	HANDSHAKE_LOADED,
	HANDSHAKE_ATTACH, /* the agent was brought into a process that runs already */
};

/*
 * Why a process is not to be sampled: from the start (START, FORK), or from now on (STOP).
 * The sentences are the report's, behind the process's name; an empty one is never shown.
 */
#define HANDSHAKE_REASON_MAP(X)                                        \
	X(NO_REASON, "", "")                                           \
	/* What it loads calls a libc that we do not interpose. */     \
	X(SECOND_LIBC, "it has a second C library (dlmopen)",          \
	  "it loaded a second C library (dlmopen)")                    \
	/* A filter, or a dispatcher, forbids rt_sigreturn. */         \
	X(NO_RETURN, "it lets no signal handler return",               \
	  "it lets no signal handler return (seccomp or prctl)")       \
	/* The next image has no agent that could take a late trap. */ \
	X(EXEC, "", "")                                                \
	/* And another recorder's environment. */                      \
	X(EXEC_RECORDED, "", "")                                       \
	/* It has asked to be traced: its traps are its tracer's. */   \
	X(DEBUGGER, "a debugger traces it", "a debugger traces it")

enum handshake_reason {
#define X(name, from_the_start, from_now_on) HANDSHAKE_##name,
	HANDSHAKE_REASON_MAP(X)
#undef X
		HANDSHAKE_REASON_COUNT,
};

static inline int handshake_is_exec(u32 reason)
{
	return reason == HANDSHAKE_EXEC || reason == HANDSHAKE_EXEC_RECORDED;
}

struct handshake_hello {
	u32 magic;
	u32 occasion;
	u32 pid, tid;  /* as the process sees them */
	u32 reason;    /* enum handshake_reason: if any, it is not to be sampled */
	u32 target;    /* STOP: whose traps are meant, if another's; 0: its own */
	u64 time_ns;   /* CLOCK_MONOTONIC */
	char name[16]; /* the program's, for one that is gone before it is answered */
};

enum handshake_verdict {
	HANDSHAKE_SAMPLE, /* with the ring's descriptor */
	HANDSHAKE_LEAVE,  /* this process is not to be sampled */
	HANDSHAKE_DONE,   /* the events are as STOP or RESUME asked */
};

struct handshake_answer {
	u32 magic;
	u32 verdict;
	u64 ring_bytes;
};
