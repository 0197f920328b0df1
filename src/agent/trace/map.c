#include "agent/trace/map.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/core/arch.h"
#include "agent/trace/area.h"

static bool is_forbidden;

void *trace_map(u64 bytes)
{
	if (trace_map_is_forbidden())
		return NULL;
	const long place = arch_syscall6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return place < 0 ? NULL : (void *)place;
}

void trace_unmap(void *place, u64 bytes)
{
	if (!trace_map_is_forbidden())
		arch_syscall4(SYS_munmap, (long)place, (long)bytes, 0, 0);
}

void trace_map_forbid(void)
{
	__atomic_store_n(&is_forbidden, true, __ATOMIC_RELAXED);
}

bool trace_map_is_forbidden(void)
{
	return __atomic_load_n(&is_forbidden, __ATOMIC_RELAXED);
}

void trace_protect_again(u64 begin, u64 end, long protection)
{
	struct trace_area *area = trace_area_of_process();

	if (arch_syscall4(SYS_mprotect, (long)begin, (long)(end - begin), protection, 0) < 0 &&
	    area != NULL)
		__atomic_fetch_add(&area->left_writable, 1, __ATOMIC_RELAXED);
}
