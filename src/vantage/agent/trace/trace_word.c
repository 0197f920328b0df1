#include "vantage/agent/trace/trace_word.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "vantage/agent/agent.h"
#include "vantage/agent/arch.h"

/* By the kernel's copy, which fails where a store would kill. */
bool trace_put_word(void **place, void *word)
{
	struct iovec from = { &word, sizeof word };
	struct iovec into = { place, sizeof word };

	return agent.may_call && agent.may_copy &&
	       arch_syscall6(SYS_process_vm_writev, agent.pid, (long)&from, 1, (long)&into, 1,
			     0) == (long)sizeof word;
}
