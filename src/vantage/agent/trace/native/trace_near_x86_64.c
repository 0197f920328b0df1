#include "vantage/agent/trace/native/trace_near.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "vantage/agent/arch.h"
#include "vantage/agent/memory.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* since Linux 4.17 */
#endif

#define NEAR_STEP  (64UL << 10)
#define NEAR_TRIES 8192U /* half a gibibyte */

static void write_jumps(u8 *page, const u64 *targets, u32 count)
{
	static const u8 jump[] = { 0xff, 0x25, 2, 0, 0, 0 }; /* jmp *2(%rip) */

	for (u32 i = 0; i < count; i++) {
		u8 *at = page + i * TRACE_NEAR_STEP;

		__builtin_memcpy(at, jump, sizeof jump);
		__builtin_memcpy(at + sizeof jump + 2, &targets[i], sizeof targets[i]);
	}
}

u64 trace_near_jumps(u64 start, const u64 *targets, u32 count)
{
	for (u32 i = 1; i < NEAR_TRIES && start > i * NEAR_STEP; i++) {
		const u64 wanted = (start & ~(MEMORY_PAGE - 1)) - i * NEAR_STEP;
		const long got = arch_syscall6(
			SYS_mmap, (long)wanted, MEMORY_PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (got < 0)
			continue;
		if ((u64)got == wanted) {
			write_jumps((u8 *)wanted, targets, count);
			if (arch_syscall4(SYS_mprotect, got, MEMORY_PAGE, PROT_READ | PROT_EXEC,
					  0) == 0)
				return wanted;
		}
		arch_syscall4(SYS_munmap, got, MEMORY_PAGE, 0, 0);
	}
	return 0;
}
