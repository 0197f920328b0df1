/*
 * Which pages are free is asked of msync(MS_ASYNC), which has done nothing since Linux 2.6.19
 * (mm/msync.c), but says ENOMEM where one of a range is not mapped.  Trying pages at some
 * distance from each other finds none where there is little between large mappings: Ruby 3.3
 * has one of 400 MiB below its libraries.  Where a filter was there before us, or the program
 * has put one up, it may kill who makes an unusual call, and pages are tried all the same:
 * first the kernel's own choice, which is among the libraries as a rule.
 */
#include "vantage/agent/trace/native/trace_near.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/core/agent.h"
#include "agent/core/arch.h"
#include "agent/core/memory.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* since Linux 4.17 */
#endif

/* What a process may map: from vm.mmap_min_addr, as it usually is, to TASK_SIZE. */
#define LOWEST  (64ULL << 10)
#define HIGHEST ((1ULL << 47) - MEMORY_PAGE)
/* Another thread may take what was free. */
#define TRIES 8U
/* Without asking: half a gibibyte. */
#define STEP  (64UL << 10)
#define STEPS 8192U

static void write_jumps(u8 *page, const u64 *targets, u32 count)
{
	static const u8 jump[] = { 0xff, 0x25, 2, 0, 0, 0 }; /* jmp *2(%rip) */

	for (u32 i = 0; i < count; i++) {
		u8 *at = page + i * TRACE_NEAR_STEP;

		__builtin_memcpy(at, jump, sizeof jump);
		__builtin_memcpy(at + sizeof jump + 2, &targets[i], sizeof targets[i]);
	}
}

static bool is_full(u64 begin, u64 end)
{
	return arch_syscall4(SYS_msync, (long)begin, (long)(end - begin), MS_ASYNC, 0) == 0;
}

/* The free page of a range that is next to its end, or to its beginning; 0: it has none. */
static u64 find_free(u64 begin, u64 end, bool is_from_end)
{
	if (begin >= end || is_full(begin, end))
		return 0;
	while (end - begin > MEMORY_PAGE) {
		const u64 middle = begin + ((end - begin) / 2 & ~(MEMORY_PAGE - 1));

		if (is_from_end ==
		    is_full(is_from_end ? middle : begin, is_from_end ? end : middle))
			end = middle;
		else
			begin = middle;
	}
	return begin;
}

static u64 find_near(u64 low, u64 high)
{
	const u64 lowest = high > TRACE_NEAR_REACH + LOWEST ? high - TRACE_NEAR_REACH : LOWEST;
	const u64 highest = low < HIGHEST - TRACE_NEAR_REACH ? low + TRACE_NEAR_REACH : HIGHEST;
	const u64 below = find_free(lowest, low, true);

	return below != 0 ? below : find_free(high, highest, false);
}

static void give_back(u64 page)
{
	arch_syscall4(SYS_munmap, (long)page, MEMORY_PAGE, 0, 0);
}

static long map_page(u64 page, long flags)
{
	return arch_syscall6(SYS_mmap, (long)page, MEMORY_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static bool take_page(u64 page)
{
	const long got = map_page(page, MAP_FIXED_NOREPLACE);

	if (got > 0 && (u64)got != page)
		give_back((u64)got);
	return (u64)got == page;
}

static u64 take_near(u64 low, u64 high)
{
	for (u32 i = 0; i < TRIES; i++) {
		const u64 page = find_near(low, high);

		if (page == 0 || take_page(page))
			return page;
	}
	return 0;
}

static u64 take_by_trying(u64 low, u64 high)
{
	const long chosen = map_page(0, 0);

	if (chosen > 0 &&
	    ((u64)chosen < low ? high - (u64)chosen : (u64)chosen - low) <= TRACE_NEAR_REACH)
		return (u64)chosen;
	if (chosen > 0)
		give_back((u64)chosen);
	for (u32 i = 1; i < STEPS && low > LOWEST + i * STEP; i++) {
		if (take_page(low - i * STEP))
			return low - i * STEP;
	}
	return 0;
}

u64 trace_near_jumps(u64 low, u64 high, const u64 *targets, u32 count)
{
	low &= ~(MEMORY_PAGE - 1);
	high = (high + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1);
	const bool may_ask = agent.may_call && agent.may_copy;
	const u64 page = may_ask ? take_near(low, high) : take_by_trying(low, high);

	if (page == 0)
		return 0;
	write_jumps((u8 *)page, targets, count);
	if (arch_syscall4(SYS_mprotect, (long)page, MEMORY_PAGE, PROT_READ | PROT_EXEC, 0) == 0)
		return page;
	give_back(page);
	return 0;
}
