/*
 * memory - what the walkers may read in the interrupted thread.
 *
 * Bounded first: the thread's own stack from the stack pointer to its end, and the segment of
 * an image that never goes whose rules are read.  Both are known to stay mapped.  All else (a
 * coroutine's stack, generated code, the tables of a library that may be unloaded meanwhile)
 * is copied page by page with process_vm_readv() of the process itself, and read in the
 * copy: the kernel answers EFAULT where we would have died, whatever signals are blocked and
 * whatever other threads unmap.  Where system calls may be forbidden, only what is bounded is
 * read.  In a process with an interpreter, whose frames lie in the heap, all else is loaded
 * where loads may fault (signals/faults.h).  (docs/decisions/0004-reading-memory.md)
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "abi/types.h"
#include "agent/core/loads.h"

#define MEMORY_PAGE   4096ULL
#define MEMORY_COPIES 4 /* pages that are kept in a walk */
/*
 * Pages that are copied in a walk, 1 to 2 ms of time: to find a rule for the first time takes a dozen
 * in a library of 30 MB of tables, and a stack of Firefox has eighty frames in one.
 */
#define MEMORY_MAX_COPIES 1024
#define MEMORY_MAX_FAULTS 128 /* loads that fault in a walk */

/* Room for the copies of one walk; what it held does not matter. */
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
	u32 next_copy;                /* which gives way */
	u32 copies_left, faults_left; /* pages that may be copied, loads that may fault */
	enum memory_loads loads;
	const ucontext_t *context; /* what was interrupted */
	bool is_own_stack;         /* the walk begins on the thread's own */
	/* Else how far the one reaches where we stand, if its interpreter shows it; both 0: unknown. */
	u64 shown_low, shown_high;
	bool was_forbidden; /* something was not read since no system call may be made */
};

/* Whether the page of addr can be read at this moment: costs a system call. */
bool memory_probe(u64 addr);
/*
 * Whether the stack at sp, where we stand, goes on for `bytes` below it.  Costs a system call
 * where a page is entered for the first time.
 */
bool memory_has_room(u64 sp, u32 bytes);
/*
 * Begins a walk at sp: finds which stack this is and how far it reaches.  here: the stack
 * pointer of our handler if the kernel has put the signal's frame on the stack that it found,
 * or 0.
 */
void memory_begin(struct mem *mem, struct memory_copies *copies, u64 sp, u64 here);
/*
 * The same outside of handlers, for what the thread's own interpreter has just shown to be
 * there: all is loaded.
 */
void memory_begin_own(struct mem *mem, struct memory_copies *copies);
/*
 * From now on what is not bounded is loaded, if a mechanism may have loads fault (the step
 * may_load, core/mechanism.h); context: what was interrupted.
 */
void memory_allow_loads(struct mem *mem, const ucontext_t *context);
/* Whether `here` is on the thread's own stack, which goes on for `bytes` below it. */
bool memory_has_own_room(u64 here, u32 bytes);
/* Reads what is not known to stay mapped. */
int memory_read_unbounded(struct mem *mem, void *dst, u32 len, u64 addr);
/* Whether so much was read that from now on what is not bounded cannot be. */
static inline bool memory_is_used_up(const struct mem *mem)
{
	return mem->copies_left == 0;
}
/* A string, as far as it can be read; it lives until the next of this walk. */
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

	/* Most are words, or records of tables; memcpy() may be interposed. */
	for (; len >= sizeof(u64); len -= (u32)sizeof(u64)) {
		__builtin_memcpy(to, from, sizeof(u64));
		to += sizeof(u64);
		from += sizeof(u64);
	}
	for (u32 i = 0; i < len; i++)
		to[i] = from[i];
	return 0;
}
