#include "agent/core/tls.h"

#include "agent/core/arch.h"
#include "agent/core/memory.h"

/* A variable of a module that was loaded later: found by the thread's block of that module. */
static u64 read_by_module(struct mem *mem, const struct tls_variable *variable)
{
	u64 module, blocks, block, word;

	if (mem_read(mem, &module, sizeof module, variable->module) < 0 ||
	    mem_read(mem, &blocks, sizeof blocks, arch_thread_pointer() + ARCH_DTV_OFFSET) <
		    0 ||
	    mem_read(mem, &block, sizeof block, blocks + module * ARCH_DTV_ENTRY) < 0 ||
	    mem_read(mem, &word, sizeof word, block + variable->place) < 0)
		return 0;
	return word;
}

u64 tls_read(struct mem *mem, const struct tls_variable *variable)
{
	u64 word;

	switch (variable->means) {
	case TLS_STATIC:
		return mem_read(mem, &word, sizeof word,
				arch_thread_pointer() + variable->place) < 0
			       ? 0
			       : word;
	case TLS_BY_MODULE:
		return read_by_module(mem, variable);
	default:
		return 0;
	}
}
