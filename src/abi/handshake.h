/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * handshake - the messages by which an agent registers with the recorder, over a SOCK_SEQPACKET
 * socket in a folder that only the user can enter.
 *
 * The agent sends struct handshake_request and waits, for a bounded time.  The recorder does what
 * the occasion requires, answers, and passes the ring's memory where a ring begins (SCM_RIGHTS).
 * Then both close the connection: no descriptor of ours stays open in the target.
 */
#pragma once
#include "abi/types.h"

#define HANDSHAKE_MAGIC 0x66746d33U /* changes with the messages' layout */
/* si_perf_data of the recorder's sampling events: "fathom". */
#define HANDSHAKE_EVENT_MARK 0x666174686f6dULL
/*
 * If the rate may change while the program runs there are this many events, one of them enabled:
 * number n has the mark + n, and 2^n times the ring's period.
 */
#define HANDSHAKE_EVENT_RUNGS 4
/*
 * How long a program waits for a recorder that does not answer.  A trace without one of its
 * processes is of little use, so a traced one waits longer, for a busy machine; the socket's name
 * shows whether the process is to be sampled or traced.
 */
#define HANDSHAKE_TIMEOUT_MS       1000
#define HANDSHAKE_TRACE_TIMEOUT_MS 3000
#define HANDSHAKE_SOCKET           "/agents"
#define HANDSHAKE_TRACE_SOCKET     "/tracers"

enum handshake_occasion {
	HANDSHAKE_START, /* the agent's constructor */
	HANDSHAKE_FORK,  /* a child of a process that has an agent */
	/* The process asks for sampling to stop; the answer comes when its events are off. */
	HANDSHAKE_STOP,
	HANDSHAKE_RESUME, /* it may be sampled again: the reason for STOP is over */
	/* It has loaded a possible interpreter; the answer comes when that was examined. */
	HANDSHAKE_LOADED,
	HANDSHAKE_ATTACH, /* the agent was loaded into a running process */
};

/*
 * Why a process is not to be sampled: from the start (START, FORK), or from now on (STOP).
 * The sentences are the report's, behind the process's name; an empty one is never shown.
 */
#define HANDSHAKE_REASON_MAP(X)                                              \
	X(NO_REASON, "", "")                                                 \
	/* Libraries in it call a libc that we do not interpose. */          \
	X(SECOND_LIBC, "it has a second C library (dlmopen)",                \
	  "it loaded a second C library (dlmopen)")                          \
	/* A filter, or a dispatcher, forbids rt_sigreturn. */               \
	X(NO_RETURN, "it lets no signal handler return",                     \
	  "it lets no signal handler return (seccomp or prctl)")             \
	/* The next image has no agent, and a late SIGTRAP would kill it. */ \
	X(EXEC, "", "")                                                      \
	/* Likewise, and it has another recorder's environment. */           \
	X(EXEC_RECORDED, "", "")                                             \
	/* It has called PTRACE_TRACEME: its tracer gets its traps. */       \
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

struct handshake_request {
	u32 magic;
	u32 occasion;
	u32 pid, tid;  /* as the process sees them */
	u32 reason;    /* enum handshake_reason: unless 0, do not sample it */
	u32 target;    /* STOP: the process to stop sampling; 0: the sender */
	u64 time_ns;   /* CLOCK_MONOTONIC */
	char name[16]; /* the program's name, for a process that ends before the answer */
};

enum handshake_verdict {
	HANDSHAKE_SAMPLE, /* the answer carries the ring's descriptor */
	HANDSHAKE_LEAVE,  /* this process is not to be sampled */
	HANDSHAKE_DONE,   /* the events are as STOP or RESUME asked */
};

struct handshake_answer {
	u32 magic;
	u32 verdict;
	u64 ring_bytes;
};
