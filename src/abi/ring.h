/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ring - how samples get from a vantage to the recorder: shared memory, many
 * writers, one reader, no system call.
 *
 * The ring is an array of 64-bit words, a power of two of them.  A record is a run
 * of words that begins with a header word: how many words, the type, the version, and a
 * stamp: the low half of the record's position (words written before it).  A writer
 * reserves its words by moving head, fills them, and stores the header last.  A header whose
 * stamp is not that of its position is an older lap's or not committed yet; so nothing
 * has to be cleared, and when a writer was killed between reserve and commit the reader finds
 * the next record by its stamp: that one record is lost, not the ring.
 *
 * Full means count and drop.  Nothing here waits.
 */
#pragma once
#include "abi/python_layout.h"
#include "abi/ruby_layout.h"
#include "abi/types.h"

#define RING_MAGIC         0x676e69726d746166ULL /* "fatmring" */
#define RING_VERSION       9
#define RING_HEADER_BYTES  4096
#define RING_OLDER_THREADS 16
/* Threads of one process that create many short ones. */
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
	RING_TIMER = 4,          /* the vantage's own timers trigger */
	RING_TRACE = 8,          /* no samples: calls are traced (abi/trace.h) */
	RING_NO_BUILTINS = 16,   /* those of Python functions only */
	RING_PAUSED = 32,        /* nothing is taken before the program asks for it */
	RING_BLOCKS = 64,        /* Ruby's blocks are traced as its methods are */
	RING_KERNEL_TICKS = 128, /* system time that no event counts is sampled by timers */
	RING_ALL_FLAGS = 255,
};

/* What the recorder asks for while the process runs. */
enum ring_wishes {
	RING_WISH_TIMERS = 1, /* timers on its threads are to trigger in place of events */
	RING_WISH_IMAGES = 2, /* nothing else reports which images are mapped: RING_IMAGE */
};

/* What came of RING_WISH_TIMERS. */
enum ring_timers {
	RING_TIMERS_NONE,
	RING_TIMERS_ARMED,  /* on each thread, and on those to come: events may go */
	RING_TIMERS_FAILED, /* on some thread there is none */
};

/* What the vantage found of the layout, as it held a walk against the interpreter's own. */
enum ring_ruby_check {
	RING_RUBY_UNCHECKED,
	RING_RUBY_AGREES,
	RING_RUBY_DIFFERS, /* no stack has Ruby frames from then on */
};

/* A program's file, as stat(2) has it. */
struct ring_program {
	u64 device, inode; /* inode 0: none */
};

#define RING_BRIEF_PROGRAMS 4

/*
 * The first page.  head, and what the vantage counts, is written by it; tail and epoch by the
 * reader.
 */
struct ring_header {
	u64 magic;
	u32 version;
	u32 flags; /* enum ring_flags, by the recorder before the vantage sees the ring */
	u64 word_count;
	u64 period_ns;
	u64 period_ticks;   /* the same on the machine's counter, about (abi/ticks.h) */
	u64 switch_cost_ns; /* what a thread's clock shows, and its event does not, per switch;
			     * the recorder may raise it */
	/*
	 * Odd while sampling is paused (a debugger, or the process asked for it): the
	 * recorder adds one at its beginning and its end.  The first sample of a thread
	 * behind a pause stands for no more than its own period.
	 */
	u32 pauses;
	u32 late_hellos; /* by the recorder: children are to say hello late */
	/* By the recorder at any time: children that execute these are to say hello late. */
	struct ring_program brief_programs[RING_BRIEF_PROGRAMS];
	u32 wishes; /* enum ring_wishes, by the recorder at any time */
	u32 wishes_reserved;
	/* Threads that were there before the sampling event: their past is start-up, too. */
	u32 older_tids[RING_OLDER_THREADS];
	/*
	 * Threads whose event counts for them alone (collect/processes/short_threads.h): each of their
	 * traps is the end of a period of their own.  Set by the recorder at any time; 0: none.
	 */
	u32 unshared_tids[RING_CREATORS];

	u64 head __attribute__((aligned(128)));
	u64 tail __attribute__((aligned(128)));
	u64 epoch; /* by the reader: part of the hashes of stacks; it knows those of this one */

	u64 lost_samples __attribute__((aligned(128))); /* for want of room */
	u64 early_traps;     /* of handler_samples, that left their time to the next sample */
	u64 handler_samples; /* how often the handler ran to its end */
	u64 handler_timed;   /* how many of them handler_ticks covers */
	u64 handler_ticks;   /* spent in those, in ticks of the machine's counter */
	u64 handler_slow;    /* how many others handler_slow_ns covers */
	u64 handler_slow_ns; /* CPU time of those */
	u64 switches;        /* to its threads, as far as samples show */
	u64 waits;           /* those of them before which the thread waited */
	u64 start_cpu_ns;    /* the process's CPU time when sampling began; 0: it did not */
	u64 end_cpu_ns;      /* at its last instructions; 0: it has not come to them */
	u64 unsent_ns;       /* of threads that ended when there was no room to say so */
	u64 lost_ns;         /* what lost_samples stood for */
	u64 start_ns;        /* CPU time of the vantage's start */
	u32 timers;          /* enum ring_timers */
	u32 timers_reserved;

	/*
	 * The interpreters that the process has mapped: each written once by the recorder, at
	 * any time, and whole when its has_… is seen (acquire) to be 1.
	 */
	u32 has_python __attribute__((aligned(128)));
	u32 has_ruby;
	struct python_layout python;
	struct ruby_layout ruby;

	/*
	 * By the vantage: walks with a thread state (an execution context) that looked like one,
	 * and those in which it did not.
	 */
	u64 python_walks __attribute__((aligned(128)));
	u64 python_refusals;
	u64 ruby_walks;
	u64 ruby_refusals;
	u32 ruby_check; /* enum ring_ruby_check */
	u32 ruby_reserved;

	u64 trace_offset; /* of the struct trace_area, from here; 0: there is none */
	u64 bytes;        /* of the whole memory */

	u64 regions_address; /* by the vantage: walk/regions.h; 0: there are none */

	/* The recorder: its pid, and when it began, in ticks since boot (proc_pid_stat(5)). */
	u64 recorder_pid, recorder_start;
};
_Static_assert(sizeof(struct ring_header) <= RING_HEADER_BYTES, "the header is one page");

struct ring_record {
	u16 words; /* with this one */
	u8 type;
	u8 version;
	u32 stamp;
};

enum ring_sample_flags {
	RING_SAMPLE_PAUSED = 1, /* of time that the program does not want to be sampled */
	/*
	 * No sample: what a thread that ends has burned since its last one.  The leaf is the
	 * function that it began with, without callers.
	 */
	RING_SAMPLE_END = 2,
	/* Samples of this thread were lost since the last one that is here. */
	RING_SAMPLE_BEHIND_LOST = 4,
};

/* One sample.  covered_ns is the thread's CPU time since sampling began, up to here. */
struct ring_sample {
	struct ring_record record;
	u32 tid;
	u8 ending; /* enum walk_status */
	u8 flags;  /* enum ring_sample_flags */
	u16 reserved;
	u64 time_ns; /* CLOCK_MONOTONIC */
	u64 stack;   /* the hash of a ring_stack sent before; 0: no callers */
	u64 leaf;    /* the exact address being executed, or the word of a region's frame */
	u64 weight_ns;
	u64 covered_ns;
};

/*
 * One frame of a stack, as a word: the address to look up (return addresses are already one
 * byte back), or an interpreter's frame: the key of its code and the instruction being executed;
 * of Ruby's, the line.
 */
#define RING_INTERPRETED      (1ULL << 63)
#define RING_INSTRUCTION_BITS 20
/* Counted as the code's table of lines counts; this one stands for those that do not fit. */
#define RING_NO_INSTRUCTION ((1ULL << RING_INSTRUCTION_BITS) - 1)
/* What a ring_code's key is cut to: it has RING_INTERPRETED, and 0 where instructions stand. */
#define RING_KEY_MASK (~RING_NO_INSTRUCTION)

/*
 * The callers of a leaf, innermost first.  Sent before the first sample of an epoch that names
 * its hash.  Behind an address in an interpreter's loop (the leaf, or one of these) stand the
 * frames that this activation of the loop executes.
 */
struct ring_stack {
	struct ring_record record;
	u64 hash;
	u64 frames[];
};

/* An ELF image that the vantage met for the first time. */
struct ring_image {
	struct ring_record record;
	u64 time_ns;
	u64 start, end;
	u64 load_bias; /* what is added to the file's addresses */
	char path[];   /* NUL-terminated, padded to a word */
};

enum ring_code_kind {
	RING_CODE_PYTHON = 1,         /* a code object */
	RING_CODE_PYTHON_BUILTIN = 2, /* a C function, as Python names it */
	RING_CODE_RUBY = 3, /* an iseq of a method: its frames have lines for instructions */
	RING_CODE_RUBY_BUILTIN =
		4,            /* a method in C, an operator, or the collection of garbage */
	RING_CODE_REGION = 5, /* a region of the program's time that it named itself */
};

/*
 * What an interpreter's frames with this key are.  Sent before the first stack of an epoch that
 * names it.  Texts are UTF-8 (bytes that file names had before they were decoded are those
 * bytes again), one after the other without NULs, then the table of lines.
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
	RING_CODE_IS_CUT = 1, /* a text was longer than there is room for */
};

/* What the program calls a thread, in UTF-8, where the kernel does not have it. */
struct ring_thread {
	struct ring_record record;
	u64 time_ns; /* CLOCK_MONOTONIC */
	u32 tid;
	u32 length;  /* in bytes */
	char name[]; /* padded to a word */
};
/* Longer names are cut. */
#define RING_THREAD_NAME_MAX 64

/* Images may have gone: addresses may change their meaning. */
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
 * Whether `words` more would fit now: a cheap look before expensive work.  Here and below,
 * word_count is the writer's own copy (abi/ring_terms.h): the header's may change.
 */
static inline int ring_has_room(struct ring_header *ring, u64 word_count, u64 words)
{
	u64 head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	u64 tail = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);

	return head + words - tail <= word_count;
}

/*
 * Reserves words for one record: its position in *out_position; 0, or -1 when there is no
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

	/* Pairs with the acquire in ring_peek(): a visible header means whole words. */
	__atomic_store_n(header, ring_pack_record(words, type, position), __ATOMIC_RELEASE);
}

/*
 * The record at position, for the reader: its words are copied to `words` (room for
 * max words) and their number returned; 0 when it is not committed, or makes no sense.  `ring`
 * is memory another process can write: word_count is the reader's own copy.
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
