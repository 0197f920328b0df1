/*
 * memory - reads the program's memory during a stack walk without a fault that kills.
 *
 * Two ranges, the bounds, are known to stay mapped and are read directly: the thread's own stack
 * from the stack pointer to its end, and the segment with the unwind rules of an image that is
 * never unloaded.  All else (a coroutine's stack, generated code, the tables of a library that may
 * be unloaded meanwhile) is copied page by page with process_vm_readv() of the process itself, and
 * read in the copy: the kernel returns EFAULT where a load would have killed the process, whatever
 * signals are blocked and whatever other threads unmap.  Where system calls may be forbidden, only
 * the bounds are read.  In a process with an interpreter, whose frames are in the heap, all else is
 * read by loads that may fault (signals/faults.h).  (docs/decisions/0004-reading-memory.md)
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "abi/types.h"
#include "agent/core/loads.h"

#define MEMORY_PAGE   4096ULL
#define MEMORY_COPIES 4 /* copies of pages that a walk keeps */
/*
 * Most pages that a walk copies, 1 to 2 ms of time: finding a rule for the first time takes a dozen
 * in a library with 30 MB of tables, and a stack of Firefox has eighty frames in one such library.
 */
#define MEMORY_MAX_COPIES 1024
#define MEMORY_MAX_FAULTS 128 /* most loads of a walk that fault */

/* Memory for the copies of one walk; need not be initialised. */
struct memory_copies {
	u64 words[MEMORY_COPIES][MEMORY_PAGE / sizeof(u64)];
	char text[1024];
};

/* Whether loads may fault in this walk: signals/faults.h. */
enum memory_loads {
	MEMORY_NO_LOADS,
	MEMORY_LOADS_TO_ASK,
	MEMORY_LOADS,
};

struct mem {
	u64 stack_low, stack_high; /* known to stay mapped */
	u64 image_low, image_high;
	struct memory_copies *copies;
	u64 copied[MEMORY_COPIES];    /* addresses of the pages; 0: none */
	u32 next_copy;                /* the one that is replaced next */
	u32 copies_left, faults_left; /* pages that may be copied, loads that may fault */
	enum memory_loads loads;
	const ucontext_t *context; /* what was interrupted */
	bool is_own_stack;         /* the walk begins on the thread's own stack */
	/* Else the bounds of the stack we run on, by its interpreter; both 0: unknown. */
	u64 shown_low, shown_high;
	bool was_forbidden; /* a read failed since no system call may be made */
};

/* Whether the page of addr can be read at this moment: costs a system call. */
bool memory_probe(u64 addr);
/* The same for all pages of `bytes` bytes from addr on. */
bool memory_probe_all(u64 addr, u64 bytes);
/*
 * Whether the stack that we run on, at sp, has `bytes` of room below it.  Costs a system call
 * where a page is entered for the first time.
 */
bool memory_has_room(u64 sp, u32 bytes);
/*
 * Begins a walk at sp: finds which stack this is and how far it reaches.  here: our handler's stack
 * pointer if it runs on the interrupted stack; 0 if on an alternate one.
 */
void memory_begin(struct mem *mem, struct memory_copies *copies, u64 sp, u64 here);
/*
 * The same outside of handlers, for memory that the thread's own interpreter has just shown to
 * exist: everything is read by loads.
 */
void memory_begin_own(struct mem *mem, struct memory_copies *copies);
/*
 * From now on memory outside of the bounds is read by loads, if a mechanism lets them fault (the
 * step may_load, core/mechanism.h); context: what was interrupted.
 */
void memory_allow_loads(struct mem *mem, const ucontext_t *context);
/* Whether `here` is on the thread's own stack, with `bytes` of room below it. */
bool memory_has_own_room(u64 here, u32 bytes);
/* Reads memory outside of the bounds. */
int memory_read_unbounded(struct mem *mem, void *dst, u32 len, u64 addr);
/* Whether the walk has used up its copies, so that it can read only within the bounds. */
static inline bool memory_is_used_up(const struct mem *mem)
{
	return mem->copies_left == 0;
}
/* A string, as far as it can be read; valid until the next call in this walk. */
const char *memory_read_text(struct mem *mem, u64 addr);

static inline bool memory_covers(u64 low, u64 high, u64 addr, u32 len)
{
	return addr >= low && addr < high && high - addr >= len;
}

static inline int memory_read_elsewhere(struct mem *mem, void *dst, u32 len, u64 addr)
{
	if (mem->loads == MEMORY_LOADS && fault_load(dst, addr, len))
		return 0;
	return memory_read_unbounded(mem, dst, len, addr);
}

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	if (!memory_covers(mem->stack_low, mem->stack_high, addr, len) &&
	    !memory_covers(mem->image_low, mem->image_high, addr, len))
		return memory_read_elsewhere(mem, dst, len, addr);
	const u8 *from = (const u8 *)addr;
	u8 *to = dst;

	/* Most reads are of a word, or of a small record of a table. */
	for (; len >= sizeof(u64); len -= (u32)sizeof(u64)) {
		__builtin_memcpy(to, from, sizeof(u64));
		to += sizeof(u64);
		from += sizeof(u64);
	}
	for (u32 i = 0; i < len; i++)
		to[i] = from[i];
	return 0;
}
