#include "vantage/agent/agent.h"

#include <errno.h>
#include <sys/syscall.h>

#include "vantage/agent/arch.h"

/*
 * As large as the default limit of a stack; deeper ones are proven page by page as they are
 * read.
 */
#define OWN_STACK_MAX (8ULL << 20)

bool memory_probe(u64 addr)
{
	const long kernel_sigset_bytes = 8;
	const long no_such_how = -1;

	return arch_syscall4(SYS_rt_sigprocmask, no_such_how, (long)(addr & ~(MEMORY_PAGE - 1)),
			     0, kernel_sigset_bytes) == -EINVAL;
}

static bool memory_probe_range(u64 low, u64 high)
{
	for (u64 page = low & ~(MEMORY_PAGE - 1); page < high; page += MEMORY_PAGE) {
		if (!memory_probe(page))
			return false;
	}
	return true;
}

/* The end of the calling thread's own stack if sp can lie on it, or 0. */
static u64 memory_own_stack_top(u64 sp)
{
	u64 top = agent.main_stack_top;

	if (sp < top && top - sp <= agent.main_stack_bytes)
		return top;
	top = arch_thread_pointer();
	if (sp < top && top - sp <= OWN_STACK_MAX)
		return top;
	return 0;
}

void memory_begin(struct mem *mem, u64 sp)
{
	u64 top = memory_own_stack_top(sp);

	*mem = (struct mem){ .stack_low = sp - ARCH_RED_ZONE, .stack_high = sp };
	if (agent.may_call)
		mem->probes_left = MEMORY_MAX_PROBES;
	if (top != 0 && top == agent.main_stack_top) {
		mem->stack_high = top;
		return;
	}
	if (!agent.may_call)
		return;
	if (top == 0)
		return;

	u64 proven = thread_notes.own_stack_low != 0 ? thread_notes.own_stack_low : top;

	/* A live thread's stack stays mapped above its stack pointer: proven once, it holds. */
	if (sp < proven) {
		if (!memory_probe_range(sp, proven))
			return;
		thread_notes.own_stack_low = sp & ~(MEMORY_PAGE - 1);
	}
	mem->stack_high = top;
}

/* Proves pages upwards from the end of the stack that is known. */
static bool memory_extend(struct mem *mem, u64 end)
{
	while (mem->stack_high < end) {
		if (mem->probes_left == 0)
			return false;
		mem->probes_left--;
		if (!memory_probe(mem->stack_high))
			return false;
		mem->stack_high = (mem->stack_high & ~(MEMORY_PAGE - 1)) + MEMORY_PAGE;
	}
	return true;
}

bool memory_prove(struct mem *mem, u64 addr, u32 len)
{
	const u64 reach = MEMORY_MAX_PROBES * MEMORY_PAGE;

	if (mem->probes_left == 0 || addr + len < addr)
		return false;
	if (addr >= mem->stack_low && addr - mem->stack_low < reach)
		return memory_extend(mem, addr + len);
	mem->probes_left--;
	return memory_probe_range(addr, addr + len);
}
