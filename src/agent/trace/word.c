#include "agent/trace/word.h"

#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "agent/core/agent.h"
#include "agent/core/arch.h"
#include "agent/core/memory.h"

/* What the images say of an address. */
struct search {
	u64 address;
	bool may_be_written, is_guarded;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;

	(void)size;
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const u64 begin = info->dlpi_addr + segment->p_vaddr;
		const u64 end = begin + segment->p_memsz;

		if (segment->p_type == PT_LOAD && search->address >= begin &&
		    search->address + sizeof(void *) <= end)
			search->may_be_written = (segment->p_flags & PF_W) != 0;
		/* The dynamic linker guards whole pages. */
		if (segment->p_type == PT_GNU_RELRO &&
		    search->address >= (begin & ~(MEMORY_PAGE - 1)) && search->address < end)
			search->is_guarded = true;
	}
	return search->may_be_written;
}

/* By a store: into an image's data that is not read-only, as far as the image says itself. */
static bool put_into_data(void **place, void *word)
{
	struct search search = { .address = (u64)place };

	if (search.address % sizeof(void *) != 0 || dl_iterate_phdr(look_at, &search) == 0 ||
	    search.is_guarded)
		return false;
	__atomic_store_n(place, word, __ATOMIC_RELEASE);
	return true;
}

/* By the kernel's copy, which fails where a store would kill. */
bool trace_put_word(void **place, void *word)
{
	struct iovec from = { &word, sizeof word };
	struct iovec into = { place, sizeof word };

	if (!agent.may_call || !agent.may_copy)
		return put_into_data(place, word);
	const long put = arch_syscall6(SYS_process_vm_writev, agent.pid, (long)&from, 1,
				       (long)&into, 1, 0);

	return put == (long)sizeof word ||
	       ((put == -EPERM || put == -ENOSYS) && put_into_data(place, word));
}
