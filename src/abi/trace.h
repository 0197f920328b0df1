/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * trace - traced calls, as the agent counts them in memory shared with the recorder.
 *
 * Each thread has a calling-context tree: a node is a callee below its callers, with the number
 * of its calls and how long they ran.  One thread writes a node, and the recorder reads it at any
 * time: so what was counted stays counted, however the program ends.  Time is in ticks
 * (abi/ticks.h).
 *
 * A struct trace_area lies behind the ring's words.  Nodes are allocated in chunks of a page; a
 * chunk belongs to a thread's slot from when the thread sets its owner until the recorder, which
 * has read it after the thread's end, frees it.  Node 0 means none: the first chunk is never
 * given out.
 */
#pragma once
#include "abi/only.h"
#include "abi/types.h"

#define TRACE_CHUNK_NODES 64U
#define TRACE_CHUNKS      16384U /* 1,048,512 nodes; each 64 in use take a page */
#define TRACE_THREADS     4096U  /* at one time */
/* From this depth of calls on, recursion is merged (agent/trace/call_tree.h). */
#define TRACE_DEPTH   256U
#define TRACE_DEEPEST 65535U

/* Kinds of callees: each has its own hooks, at a cost of their own. */
enum trace_kind {
	TRACE_KIND_OUTSIDE, /* time in which no traced call runs */
	TRACE_KIND_PYTHON,
	TRACE_KIND_PYTHON_BUILTIN,
	TRACE_KIND_PYTHON_METHOD, /* a method of a builtin type; hooks report _BUILTIN */
	TRACE_KIND_REGION,        /* a region of time that the program has named */
	TRACE_KIND_RUBY,          /* a method or block written in Ruby */
	TRACE_KIND_RUBY_BUILTIN,
	TRACE_KIND_RUBY_OPERATOR, /* has an instruction in untraced Ruby; hooks report _BUILTIN */
	TRACE_KIND_INSTRUMENTED, /* compiled code, by compiler flag: -finstrument-functions, */
	TRACE_KIND_MCOUNT,       /* -pg */
	TRACE_KIND_FENTRY,       /* -pg -mfentry */
	/*
	 * Python functions called otherwise (agent/trace/python/call_kind.h); hooks report
	 * _PYTHON.
	 */
	TRACE_KIND_PYTHON_UNCALLED, /* called by C, or by an instruction that is no call */
	TRACE_KIND_PYTHON_RESUMED,  /* a generator or a coroutine is resumed */
	/* Builtins with any number of arguments (agent/trace/names.c); hooks report _BUILTIN. */
	TRACE_KIND_PYTHON_BUILTIN_MANY,
	TRACE_KIND_PYTHON_METHOD_MANY,
	TRACE_KIND_COUNT,
};

/* Events that are no calls; their cost is in the node in which they come. */
enum trace_uncounted {
	TRACE_UNCOUNTED_FUNCTION, /* a call that the interpreter also reports by another event */
	/*
	 * A call of an unwanted kind: a block of Ruby's, from 3.1 on.  No other unwanted events
	 * are enabled.
	 */
	TRACE_UNCOUNTED_BUILTIN,
	TRACE_UNCOUNTED_OTHER, /* a call of an object that is no function, such as a type */
	TRACE_UNCOUNTED_COUNT,
};

/*
 * The cost of measuring a call, in ticks / TRACE_COST_UNIT.  `outside`, up to the enter hook's
 * reading of the clock, and from the leave hook's reading on, is in the caller's time; `inside`,
 * between the two readings, in the callee's (for an event that is no call, all of it).  The time
 * of searching for a node, and naming a new one, is left out of all calls: the clock is read
 * again after it.
 */
#define TRACE_COST_UNIT 256
struct trace_cost {
	s32 inside, outside;
	u32 spread; /* uncertainty of inside + outside, either way */
	/* A callee's own execution time when traced, per 1,000 untraced. */
	u32 stretch_permille;
	u32 is_known;
	u32 burst_ticks; /* processor speed then: as trace_area.burst_ticks, of one burst */
};
/* A cost for each kind, then one for each enum trace_uncounted. */
#define TRACE_COSTS (TRACE_KIND_COUNT + TRACE_UNCOUNTED_COUNT)

/* Counters apart from the node, which a repeated call of the same callee does not touch. */
struct trace_overhead {
	u64 misses; /* calls for which the node was searched for */
	u64 uncounted[TRACE_UNCOUNTED_COUNT];
};

/* A callee below its callers.  Written by one thread; complete once its key is set. */
struct trace_node {
	/*
	 * Private to the agent, to find the node by; or with TRACE_UNLOADED, if the code was
	 * unloaded: when (CLOCK_MONOTONIC) it was still there.
	 */
	u64 identity;
	/*
	 * The key of a ring_code of an epoch (abi/ring.h); for compiled code, an address in it,
	 * like a sampled frame's; 0: its name could not be sent so far; TRACE_OUTSIDE: the time
	 * in which no traced call ran.
	 */
	u64 key;
	u32 parent;       /* 0: the root */
	u32 first_child;  /* the child called last */
	u32 next_sibling; /* in a ring of siblings */
	u16 depth;        /* at most TRACE_DEEPEST */
	u8 kind;          /* enum trace_kind */
	u8 is_wide; /* private to the agent: its children are indexed (agent/trace/index.h) */
	u64 calls;
	u64 self_ticks;
	u64 shortest_ticks; /* shortest ended call, callees included; ~0: none */
	u64 longest_ticks;
};
_Static_assert(sizeof(struct trace_node) == 64, "a node is a line of the cache");

#define TRACE_UNNAMED  2ULL /* key of a node that no recorder reads */
#define TRACE_OUTSIDE  1ULL
#define TRACE_UNLOADED (1ULL << 62)

enum trace_thread_state {
	TRACE_THREAD_FREE,
	TRACE_THREAD_TAKEN,
};

struct trace_thread {
	u32 state; /* enum trace_thread_state: taken by the agent, freed by the recorder */
	u32 tid;
	u64 first_ticks;    /* time of its first event */
	u64 left_out_ticks; /* left out of all calls: searching for nodes, and naming them */
	u64 reserved[5];
};

/* Why a process is not traced.  The report shows the sentences. */
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

/* Why each event costs a system call, when the clock is a thread's CPU clock. */
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

/* How CPython is traced, if there is a choice. */
enum trace_means {
	TRACE_MEANS_NONE,
	TRACE_MEANS_TABLE,   /* dispatch hooks: other instructions cost nothing */
	TRACE_MEANS_PROFILE, /* a profile function: from 3.10 on every instruction is slower */
	TRACE_MEANS_EVENTS,  /* sys.monitoring, where dispatch hooks cannot be set */
};

struct trace_area {
	u32 status;    /* enum trace_status */
	u32 cpu_clock; /* enum trace_cpu_clock */
	/*
	 * Set by the recorder before the agent sees it: times are of each thread's own CPU
	 * clock, in this many ticks per nanosecond (times 2^32); 0: of the machine's counter.
	 */
	u64 ticks_per_ns;
	u32 means; /* enum trace_means */
	u32 reserved;
	/* Set by the recorder likewise: patterns of the wanted functions (abi/only.h). */
	char only[ONLY_BYTES];
	u64 foreign_threads; /* threads whose program uses rseq_cs itself (agent/trace/clock.h) */
	u64 lost_calls; /* calls for which no node was left: their time is their callers' */
	u64 untraced_threads; /* threads for which no slot was free */
	u64 endless_calls;    /* calls whose ends are not seen */
	u64 other_tools;      /* 1: another profiler has replaced our hooks for some time */
	u64 left_writable;    /* memory of the program that could not be made read-only again */
	u64 has_jit;   /* Ruby has a JIT, and would compile code that is interpreted now */
	u64 is_frozen; /* the program has forbidden reading the counter */
	u64 off_ticks; /* time with tracing switched off, without the present one */
	u64 off_since_ticks; /* 0: tracing is on */
	/*
	 * Set by the recorder: calls that begin are not counted for a while
	 * (agent/trace/throttle.c).
	 */
	u64 is_throttled;
	u64 chunks_taken; /* at this moment */
	u64 threads_taken;
	/*
	 * The processor's speed while the program ran: burst_count bursts of work
	 * (processor_speed.h) took this many ticks together.
	 */
	u64 burst_ticks;
	u64 burst_count;
	/* Written before the first call of a kind ends; see is_known. */
	struct trace_cost costs[TRACE_COSTS];
	struct trace_thread threads[TRACE_THREADS];
	u32 owners[TRACE_CHUNKS]; /* slot + 1; 0: free */
	struct trace_node nodes[(u64)TRACE_CHUNKS * TRACE_CHUNK_NODES]
		__attribute__((aligned(4096)));
	struct trace_overhead overheads[(u64)TRACE_CHUNKS * TRACE_CHUNK_NODES];
};
