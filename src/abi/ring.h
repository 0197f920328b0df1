/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ring - shared memory by which an agent sends samples to the recorder: many writers, one reader,
 * no system call.
 *
 * The ring is an array of 64-bit words, a power of two of them.  A record is a run of words that
 * begins with a header word: the number of words, the type, the version, and a stamp, which is
 * the low half of the record's position (words written before it).  A writer reserves words by
 * advancing head, fills them, and stores the header last.  A header whose stamp does not match
 * its position is from an earlier lap, or not committed yet.  So nothing has to be cleared; and
 * if a writer is killed between reserve and commit, the reader finds the next record by its
 * stamp: only that one record is lost.
 *
 * When the ring is full, records are dropped and counted.  Nothing here waits.
 */
#pragma once
#include "abi/python_layout.h"
#include "abi/ruby_layout.h"
#include "abi/types.h"

#define RING_MAGIC         0x676e69726d746166ULL /* "fatmring" */
#define RING_VERSION       10
#define RING_HEADER_BYTES  4096
#define RING_OLDER_THREADS 16
/* Threads of a process that create many short threads. */
#define RING_CREATORS 16

enum ring_record_type {
	RING_SAMPLE = 1, /* struct ring_sample */
	RING_STACK = 2,  /* struct ring_stack and its frames */
	RING_IMAGE = 3,  /* struct ring_image and its path */
	RING_FLUSH = 4,  /* struct ring_flush */
	RING_CODE = 5,   /* struct ring_code, its texts and its table of lines */
	RING_THREAD = 6, /* struct ring_thread and its name */
};
#define RING_RECORD_VERSION 1

enum ring_flags {
	RING_CLOCK_USER = 1,     /* weights are user time */
	RING_USER_MODE_ONLY = 2, /* the event does not count system time */
	RING_TIMER = 4,          /* the agent's own timers trigger samples */
	RING_TRACE = 8,          /* no samples: calls are traced (abi/trace.h) */
	RING_NO_BUILTINS = 16,   /* with RING_TRACE: calls of builtins are not traced */
	RING_PAUSED = 32, /* no samples or calls are taken before the program asks for it */
	RING_BLOCKS = 64, /* Ruby's blocks are traced, too */
	RING_KERNEL_TICKS = 128, /* system time that no event counts is sampled by timers */
	RING_ALL_FLAGS = 255,
};

/* What the recorder asks for while the process runs. */
enum ring_wishes {
	RING_WISH_TIMERS = 1, /* timers on its threads are to replace perf events */
	RING_WISH_IMAGES = 2, /* send RING_IMAGE: no perf event reports mappings */
};

/* The agent's answer to RING_WISH_TIMERS. */
enum ring_timers {
	RING_TIMERS_NONE,
	RING_TIMERS_ARMED,  /* on each thread, also on later ones: perf events may be closed */
	RING_TIMERS_FAILED, /* some thread has no timer */
};

/* The agent's check of the layout: its walk compared with the interpreter's own backtrace. */
enum ring_ruby_check {
	RING_RUBY_UNCHECKED,
	RING_RUBY_AGREES,
	RING_RUBY_DIFFERS, /* stacks have no Ruby frames from then on */
};

/* A program's file, as stat(2) has it. */
struct ring_program {
	u64 device, inode; /* inode 0: none */
};

#define RING_BRIEF_PROGRAMS 4

/*
 * The first page of the memory.  The agent writes head and its counters; the reader writes tail
 * and epoch.
 */
struct ring_header {
	u64 magic;
	u32 version;
	u32 flags; /* enum ring_flags, by the recorder before the agent sees the ring */
	u64 word_count;
	u64 period_ns;
	u64 period_ticks;   /* the period in ticks, approximately (abi/ticks.h) */
	u64 switch_cost_ns; /* per switch: CPU time in the thread's clock that its event does not
			     * count; the recorder may raise it */
	/*
	 * Odd while sampling is paused (a debugger is attached, or the process asked for it): the
	 * recorder adds one at a pause's beginning and its end.  A thread's first sample after a
	 * pause has at most the weight of its own period.
	 */
	u32 pauses;
	u32 delayed_handshakes; /* set by the recorder: children delay their handshakes */
	/* Set by the recorder at any time: children that execute these delay their handshakes. */
	struct ring_program brief_programs[RING_BRIEF_PROGRAMS];
	u32 wishes; /* enum ring_wishes, set by the recorder at any time */
	u32 wishes_reserved;
	/*
	 * Threads that are older than their sampling event: their CPU time before it is start-up,
	 * too.
	 */
	u32 older_tids[RING_OLDER_THREADS];
	/*
	 * Threads whose perf event counts for them alone (collect/processes/short_threads.h):
	 * each of their traps ends a period of their own.  Set by the recorder at any time; 0:
	 * none.
	 */
	u32 unshared_tids[RING_CREATORS];

	u64 head __attribute__((aligned(128)));
	u64 tail __attribute__((aligned(128)));
	u64 epoch; /* by the reader: part of the hashes of stacks, which are valid within it */

	u64 lost_samples __attribute__((aligned(128))); /* dropped because the ring was full */
	u64 early_traps; /* those of handler_samples whose time was left to the next sample */
	u64 handler_samples; /* completed runs of the signal handler */
	u64 handler_timed;   /* how many runs handler_ticks covers */
	u64 handler_ticks;   /* their duration, in ticks */
	u64 handler_slow;    /* how many other runs handler_slow_ns covers */
	u64 handler_slow_ns; /* their CPU time */
	/*
	 * Walks that were repeated at once: their duration, and that of the repetition, which found
	 * in the caches what they fetched, in ticks.
	 */
	u64 first_walk_ticks, second_walk_ticks;
	u64 switches;     /* context switches to its threads, as far as samples show */
	u64 waits;        /* those before which the thread had waited */
	u64 start_cpu_ns; /* the process's CPU time when sampling began; 0: not begun */
	u64 end_cpu_ns;   /* its CPU time at its last instructions; 0: not yet */
	u64 unsent_ns;    /* CPU time of threads whose end the full ring could not take */
	u64 lost_ns;      /* weight of lost_samples */
	u64 start_ns;     /* CPU time that starting the agent took */
	u32 timers;       /* enum ring_timers */
	u32 timers_reserved;

	/*
	 * Layouts of the interpreters that the process has mapped: each written once by the
	 * recorder, at any time, and complete once its has_… (acquire) is 1.
	 */
	u32 has_python __attribute__((aligned(128)));
	u32 has_ruby;
	struct python_layout python;
	struct ruby_layout ruby;

	/*
	 * By the agent: walks that found a plausible thread state (execution context), and
	 * walks that found an implausible one.
	 */
	u64 python_walks __attribute__((aligned(128)));
	u64 python_refusals;
	u64 ruby_walks;
	u64 ruby_refusals;
	u32 ruby_check; /* enum ring_ruby_check */
	u32 ruby_reserved;

	u64 trace_offset; /* of the struct trace_area, from the start of the memory; 0: none */
	u64 bytes;        /* size of the whole memory */

	u64 regions_address; /* set by the agent: walk/regions.h; 0: no regions */

	/* The recorder's pid, and its start time in clock ticks since boot (proc_pid_stat(5)). */
	u64 recorder_pid, recorder_start;
};
_Static_assert(sizeof(struct ring_header) <= RING_HEADER_BYTES, "the header is one page");

struct ring_record {
	u16 words; /* including this header */
	u8 type;
	u8 version;
	u32 stamp;
};

enum ring_sample_flags {
	RING_SAMPLE_PAUSED = 1, /* from time that the program does not want sampled */
	/*
	 * No sample: the CPU time of a thread that ends, since its last sample.  The leaf is the
	 * thread's start function, without callers.
	 */
	RING_SAMPLE_END = 2,
	/* Samples of this thread were lost since its last one in the ring. */
	RING_SAMPLE_BEHIND_LOST = 4,
};

/* A sample.  covered_ns: the thread's CPU time from the beginning of sampling up to this one. */
struct ring_sample {
	struct ring_record record;
	u32 tid;
	u8 ending; /* enum walk_status */
	u8 flags;  /* enum ring_sample_flags */
	u16 reserved;
	u64 time_ns; /* CLOCK_MONOTONIC */
	u64 stack;   /* the hash of a ring_stack sent before; 0: no callers */
	u64 leaf;    /* the address being executed, or a region's frame word */
	u64 weight_ns;
	u64 covered_ns;
};

/*
 * A frame of a stack is one word: the address to look up (return addresses already less one
 * byte); or, for an interpreter's frame, the key of its code and the instruction being executed,
 * for Ruby the line.
 */
#define RING_INTERPRETED      (1ULL << 63)
#define RING_INSTRUCTION_BITS 20
/*
 * Instructions are counted as in the code's line table; this value stands for any that do not
 * fit.
 */
#define RING_NO_INSTRUCTION ((1ULL << RING_INSTRUCTION_BITS) - 1)
/*
 * The bits of a ring_code's key: it includes RING_INTERPRETED, and is 0 in the instruction's
 * bits.
 */
#define RING_KEY_MASK (~RING_NO_INSTRUCTION)

/*
 * The callers of a leaf, innermost first.  Sent before the first sample of an epoch that refers
 * to its hash.  An address in an interpreter's loop (the leaf, or one of these) is followed by
 * the frames that this activation of the loop executes.
 */
struct ring_stack {
	struct ring_record record;
	u64 hash;
	u64 frames[];
};

/* An ELF image in which the agent found an address for the first time. */
struct ring_image {
	struct ring_record record;
	u64 time_ns;
	u64 start, end;
	u64 load_bias; /* added to the file's addresses */
	char path[];   /* NUL-terminated, padded to a word */
};

enum ring_code_kind {
	RING_CODE_PYTHON = 1,         /* a code object */
	RING_CODE_PYTHON_BUILTIN = 2, /* a C function, as Python names it */
	RING_CODE_RUBY = 3,           /* an iseq of a method: lines instead of instructions */
	RING_CODE_RUBY_BUILTIN = 4,   /* a method in C, an operator, or garbage collection */
	RING_CODE_REGION = 5,         /* a region of the program's time that it named itself */
};

/*
 * Describes the code that has this key.  Sent before the first stack of an epoch that refers to
 * it.  Texts are UTF-8 (undecodable bytes of file names are the original bytes), one after the
 * other without NULs; then follows the line table.
 */
struct ring_code {
	struct ring_record record;
	u64 key;
	u8 kind;  /* enum ring_code_kind */
	u8 table; /* enum python_table */
	u8 flags; /* enum ring_code_flags */
	u8 reserved;
	u32 first_line;
	u16 name_length;      /* co_name; the method's own name */
	u16 qualified_length; /* co_qualname, Foo#bar; 0: the version has none */
	u16 file_length;
	u16 table_length;
	u8 bytes[];
};

enum ring_code_flags {
	RING_CODE_IS_CUT = 1, /* a text was cut */
};

/* The program's name for a thread, in UTF-8, if the kernel does not know it. */
struct ring_thread {
	struct ring_record record;
	u64 time_ns; /* CLOCK_MONOTONIC */
	u32 tid;
	u32 length;  /* in bytes */
	char name[]; /* padded to a word */
};
/* Longer names are cut. */
#define RING_THREAD_NAME_MAX 64

/* Images may have been unloaded: addresses may change their meaning. */
struct ring_flush {
	struct ring_record record;
	u64 time_ns;
};

#define RING_WORDS(type) ((u16)(sizeof(type) / sizeof(u64)))

static inline u64 *ring_words(struct ring_header *ring)
{
	return (u64 *)(void *)((char *)ring + RING_HEADER_BYTES);
}

static inline u64 ring_pack_record(u16 words, u8 type, u64 position)
{
	return (u64)words | (u64)type << 16 | (u64)RING_RECORD_VERSION << 24 |
	       (u64)(u32)position << 32;
}

/*
 * Whether `words` more would fit now: a cheap check before expensive work.  Here and below,
 * word_count is the writer's own copy (abi/ring_terms.h): the header's may be changed by others.
 */
static inline int ring_has_room(struct ring_header *ring, u64 word_count, u64 words)
{
	u64 head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	u64 tail = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);

	return head + words - tail <= word_count;
}

/*
 * Reserves words for one record.  0: its position is in *out_position; -1: the ring is full.
 * room.
 */
static inline int ring_reserve(struct ring_header *ring, u64 word_count, u64 words,
			       u64 *out_position)
{
	u64 head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);

	do {
		/* Pairs with the release in the reader: what it has read may be overwritten. */
		u64 tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

		if (head + words - tail > word_count)
			return -1;
	} while (!__atomic_compare_exchange_n(&ring->head, &head, head + words, 0,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	*out_position = head;
	return 0;
}

/* Word number `index` of the record at position. */
static inline void ring_put(struct ring_header *ring, u64 word_count, u64 position, u64 index,
			    u64 value)
{
	ring_words(ring)[(position + index) & (word_count - 1)] = value;
}

/* Makes the record at position visible: its other words must have been put. */
static inline void ring_commit(struct ring_header *ring, u64 word_count, u64 position,
			       u16 words, u8 type)
{
	u64 *header = &ring_words(ring)[position & (word_count - 1)];

	/* Pairs with the acquire in ring_peek(): behind a visible header all words are. */
	__atomic_store_n(header, ring_pack_record(words, type, position), __ATOMIC_RELEASE);
}

/*
 * For the reader: copies the words of the record at position to `words` (room for max words) and
 * returns their number; 0 if it is not committed, or is invalid.  Another process can write this
 * memory: word_count is the reader's own copy.
 */
static inline u64 ring_peek(const u64 *ring_data, u64 word_count, u64 position, u64 head,
			    u64 *words, u64 max)
{
	u64 first = __atomic_load_n(&ring_data[position & (word_count - 1)], __ATOMIC_ACQUIRE);
	u64 count = first & 0xffff;

	if ((u32)(first >> 32) != (u32)position || count == 0 || count > max ||
	    count > head - position)
		return 0;
	words[0] = first;
	for (u64 i = 1; i < count; i++)
		words[i] = ring_data[(position + i) & (word_count - 1)];
	return count;
}
