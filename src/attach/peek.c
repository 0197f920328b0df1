#include "attach/peek.h"

#include <errno.h>
#include <stdint.h>
#include <sys/uio.h>

static int result_of(ssize_t moved, size_t bytes)
{
	if (moved < 0)
		return -errno;
	return (size_t)moved == bytes ? 0 : -EFAULT;
}

int peek(pid_t pid, uint64_t address, void *buffer, size_t bytes)
{
	const struct iovec here = { buffer, bytes },
			   there = { (void *)(uintptr_t)address, bytes };

	return result_of(process_vm_readv(pid, &here, 1, &there, 1, 0), bytes);
}

int poke(pid_t pid, uint64_t address, const void *buffer, size_t bytes)
{
	const struct iovec here = { (void *)(uintptr_t)buffer, bytes };
	const struct iovec there = { (void *)(uintptr_t)address, bytes };

	return result_of(process_vm_writev(pid, &here, 1, &there, 1, 0), bytes);
}
