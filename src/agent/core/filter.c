#include "agent/core/filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "abi/filter.h"
#include "agent/core/memory.h"

#if defined(__x86_64__)
#define FILTER_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_MACHINE AUDIT_ARCH_AARCH64
#endif

_Static_assert(sizeof(struct filter_step) == sizeof(struct sock_filter), "the kernel's");

bool filter_allows(const struct sock_fprog *filter, long number)
{
	struct filter_call call = { .machine = FILTER_MACHINE, .number = (u32)number };

	if (number == SYS_mmap) {
		call.arguments[2] = PROT_READ | PROT_WRITE;
		call.arguments[3] = MAP_PRIVATE | MAP_ANONYMOUS;
		call.known = 1U << 2 | 1U << 3;
	}
	if (!memory_probe_all((u64)filter, sizeof *filter) ||
	    !memory_probe_all((u64)filter->filter, filter->len * sizeof *filter->filter))
		return true;
	return filter_answer_allows(
		filter_answer((const struct filter_step *)filter->filter, filter->len, &call));
}
