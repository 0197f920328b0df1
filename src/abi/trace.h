/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * trace - traced calls, as a vantage counts them in memory that it shares with the recorder.
 *
 * A calling-context tree for each thread: a node is a callee on the stack of its callers, with
 * how often it was called and how long it ran.  One thread writes a node, the recorder reads
 * it at any time: what was counted is counted, however the program ends.  Time is in ticks
 * (abi/ticks.h).
 *
 * Behind the ring's words stands a struct trace_area.  Nodes come in chunks of a page; a chunk is
 * a slot's from when its owner says so until the recorder, which has read it when the
 * thread had ended, takes it back.  Node 0 is none: the first chunk has no owner.
 */
#pragma once
#include "abi/only.h"
#include "abi/types.h"

#define TRACE_CHUNK_NODES 64U
#define TRACE_CHUNKS      16384U /* 1,048,512 nodes, a page of memory each 64 that are used */
#define TRACE_THREADS     4096U  /* at one time */
/* Beyond so many calls in each other, recursion is merged: agent/trace/call_tree.h has how. */
#define TRACE_DEPTH   256U
#define TRACE_DEEPEST 65535U

/* What is called: each kind is reported by hooks of its own, at a cost of its own. */
enum trace_kind {
	TRACE_KIND_OUTSIDE, /* no traced call runs */
	TRACE_KIND_PYTHON,
	TRACE_KIND_PYTHON_BUILTIN,
	TRACE_KIND_PYTHON_METHOD, /* a builtin of a type's objects: hooks say _BUILTIN */
	TRACE_KIND_REGION,        /* of the program's time, which it named itself */
	TRACE_KIND_RUBY,          /* of compiled Ruby: a method, or a block */
	TRACE_KIND_RUBY_BUILTIN,
	TRACE_KIND_RUBY_OPERATOR, /* one that Ruby else has instructions for: hooks say _BUILTIN */
	TRACE_KIND_INSTRUMENTED, /* of compiled code, by its hook: -finstrument-functions, */
	TRACE_KIND_MCOUNT,       /* -pg */
	TRACE_KIND_FENTRY,       /* -pg -mfentry */
	/* Python functions by other ways (agent/trace/python/call_kind.h): hooks say _PYTHON. */
	TRACE_KIND_PYTHON_UNCALLED, /* C, or an instruction that is no call, executes it */
	TRACE_KIND_PYTHON_RESUMED,  /* a generator or a coroutine goes on */
	/* Builtins of any number of arguments (agent/trace/names.c has which): hooks say _BUILTIN. */
	TRACE_KIND_PYTHON_BUILTIN_MANY,
	TRACE_KIND_PYTHON_METHOD_MANY,
	TRACE_KIND_COUNT,
};

/* Events that make no call, and cost the node in which they come. */
enum trace_uncounted {
	TRACE_UNCOUNTED_FUNCTION, /* the interpreter reports its call by another event as well */
	/*
	 * Of a kind whose calls are not wanted: a block of Ruby's, from 3.1 on.  Others are not
	 * asked for.
	 */
	TRACE_UNCOUNTED_BUILTIN,
	TRACE_UNCOUNTED_OTHER, /* a call of what is no function: a type, an object */
	TRACE_UNCOUNTED_COUNT,
};

/*
 * What measuring a call costs, in ticks / TRACE_COST_UNIT.  Up to an enter hook's look at the
 * clock, and from the look of a leave hook on, the caller's time runs (outside); between them, the
 * callee's (inside; of an event that makes no call, all of it).  What a search for a node takes,
 * and naming a new one, is in no call's time: the clock is looked at again behind it.
 */
#define TRACE_COST_UNIT 256
struct trace_cost {
	s32 inside, outside;
	u32 spread; /* how far inside and outside together were from that, either way */
	/* How long what a callee executes itself takes, of 1,000 without being traced. */
	u32 stretch_permille;
	u32 is_known;
	u32 burst_ticks; /* when that was found: as trace_area.burst_ticks, of one burst */
};
/* A cost for each kind, and behind these for each of enum trace_uncounted. */
#define TRACE_COSTS (TRACE_KIND_COUNT + TRACE_UNCOUNTED_COUNT)

/* Beside a node, and not in it: what is not touched by a call of the callee called last. */
struct trace_overhead {
	u64 misses; /* of its calls: the node was searched for */
	u64 uncounted[TRACE_UNCOUNTED_COUNT];
};

/* A callee on a stack.  Written by one thread; whole when its key is seen. */
struct trace_node {
	/*
	 * The vantage's own, to find it by; with TRACE_UNLOADED, of code that is gone: when
	 * (CLOCK_MONOTONIC) it was there.
	 */
	u64 identity;
	/*
	 * What a ring_code of an epoch names (abi/ring.h); of compiled code, an address in it,
	 * as a frame that is sampled; 0: it could not be sent so far, and TRACE_OUTSIDE for the
	 * time in which no traced call ran.
	 */
	u64 key;
	u32 parent;       /* 0: it is outermost */
	u32 first_child;  /* the one called last; */
	u32 next_sibling; /* of a ring */
	u16 depth;        /* at most TRACE_DEEPEST */
	u8 kind;          /* enum trace_kind */
	u8 is_wide; /* the vantage's own: its children are found by another way (agent/trace/index.h) */
	u64 calls;
	u64 self_ticks;
	u64 shortest_ticks; /* of its calls that have ended, with what they called; ~0: none */
	u64 longest_ticks;
};
_Static_assert(sizeof(struct trace_node) == 64, "a node is a line of the cache");

#define TRACE_UNNAMED  2ULL /* of a node that no recorder reads */
#define TRACE_OUTSIDE  1ULL
#define TRACE_UNLOADED (1ULL << 62)

enum trace_thread_state {
	TRACE_THREAD_FREE,
	TRACE_THREAD_TAKEN,
};

struct trace_thread {
	u32 state; /* enum trace_thread_state: taken by the vantage, freed by the recorder */
	u32 tid;
	u64 first_ticks;    /* of its first event */
	u64 left_out_ticks; /* in no call's time: searching for nodes, and naming them */
	u64 reserved[5];
};

/* Why a process is not traced, as far as the agent knows. */
#define TRACE_STATUS_MAP(X)                                                                  \
	X(WAITING, "no interpreter has run in it")                                           \
	X(ON, "")                                                                            \
	X(NO_ENTRY, "its interpreter does not export what tracing needs")                    \
	X(REFUSED, "its interpreter refused the hooks (both of sys.monitoring's free tools " \
		   "are taken, or memory is short)")                                         \
	X(UNKNOWN_VERSION, "this version of Python cannot be traced")

enum trace_status {
#define X(name, sentence) TRACE_##name,
	TRACE_STATUS_MAP(X)
#undef X
		TRACE_STATUS_COUNT,
};

/* Why an event costs a system call, where the clock is the thread's own. */
#define TRACE_CPU_CLOCK_MAP(X)                                                               \
	X(SHORT, "")                                                                         \
	X(UNREGISTERED, "its C library has not registered its threads for restartable "      \
			"sequences (glibc does, from 2.35 on)")                              \
	X(NOT_CLEARED, "this kernel does not report by restartable sequences when a thread " \
		       "has slept (Linux 6.19 and later do not)")

enum trace_cpu_clock {
#define X(name, sentence) TRACE_CPU_CLOCK_##name,
	TRACE_CPU_CLOCK_MAP(X)
#undef X
		TRACE_CPU_CLOCK_COUNT,
};

/* How CPython is traced, where there is more than one way. */
enum trace_means {
	TRACE_MEANS_NONE,
	TRACE_MEANS_TABLE,   /* by dispatch hooks: other instructions cost nothing */
	TRACE_MEANS_PROFILE, /* by a profile function: from 3.10 on each one is slower */
	TRACE_MEANS_EVENTS, /* by sys.monitoring, as its loop has no place for dispatch hooks */
};

struct trace_area {
	u32 status;    /* enum trace_status */
	u32 cpu_clock; /* enum trace_cpu_clock */
	/*
	 * By the recorder, before the vantage sees it: times are of the thread's own CPU clock,
	 * in ticks of which so many are a nanosecond (by 2^32); 0: of the machine's counter.
	 */
	u64 ticks_per_ns;
	u32 means; /* enum trace_means */
	u32 reserved;
	/* By the recorder, as well: which functions are wanted (abi/only.h). */
	char only[ONLY_BYTES];
	u64 foreign_threads;  /* whose own code uses what the clock would be read by */
	u64 lost_calls;       /* that no node was left for: their time is their callers' */
	u64 untraced_threads; /* for which there was no slot */
	u64 endless_calls;    /* whose ends are not seen */
	u64 other_tools;      /* 1: another profiler has kept calls from ours */
	u64 left_writable;    /* places of the program's that could not be protected again */
	u64 has_jit;          /* Ruby would compile what is interpreted now */
	u64 is_frozen;        /* its clock: the program has forbidden that it be read */
	u64 off_ticks;        /* while the program had switched tracing off, but for since */
	u64 off_since_ticks;  /* 0: it is on */
	/* By the recorder: calls that begin are not counted for a while (agent/trace/throttle.c). */
	u64 is_throttled;
	u64 chunks_taken; /* at this moment */
	u64 threads_taken;
	/*
	 * How quick the processor was in the course of the program: ticks that so many bursts of
	 * work took together.
	 */
	u64 burst_ticks;
	u64 burst_count;
	/* Written before the first call of the kind is seen to end; what is not known is not. */
	struct trace_cost costs[TRACE_COSTS];
	struct trace_thread threads[TRACE_THREADS];
	u32 owners[TRACE_CHUNKS]; /* slot + 1; 0: free */
	struct trace_node nodes[(u64)TRACE_CHUNKS * TRACE_CHUNK_NODES]
		__attribute__((aligned(4096)));
	struct trace_overhead overheads[(u64)TRACE_CHUNKS * TRACE_CHUNK_NODES];
};
