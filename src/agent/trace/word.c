#include "agent/trace/word.h"

#include <link.h>
#include <stddef.h>

#include "agent/core/memory.h"

/* What the program headers say about an address. */
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

bool trace_put_word(void **place, void *word)
{
	struct search search = { .address = (u64)place };

	if (search.address % sizeof(void *) != 0 || dl_iterate_phdr(look_at, &search) == 0 ||
	    search.is_guarded)
		return false;
	__atomic_store_n(place, word, __ATOMIC_RELEASE);
	return true;
}
