/*
 * The loop's table of where each instruction is executed: 256 words of data that all point into
 * the loop, in the image whose loop it is (opcode_targets[], Python/opcode_targets.h).
 */
#include "vantage/agent/trace_frames.h"

#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "abi/python_layout.h"
#include "vantage/agent/arch.h"
#include "vantage/agent/trace_frames_own.h"

#define TABLE_WORDS   256U
#define LAST_USED     180U /* of all instructions but DO_TRACING */
#define LEAST_IN_LOOP 128U

struct table_search {
	const struct python_layout *layout;
	u64 *found;
	int protection; /* of the pages it is in */
	u32 count;
};

/* Loads the dynamic linker has made read-only, too. */
static int protection_of(const struct dl_phdr_info *info, u64 address, int protection)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const u64 begin = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_GNU_RELRO && address >= begin &&
		    address < begin + header->p_memsz)
			return PROT_READ;
	}
	return protection;
}

/*
 * The image's code: a few of the table's words are in parts of the loop that stand elsewhere.
 */
static bool is_code(const struct dl_phdr_info *info, u64 address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const u64 begin = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && header->p_flags & PF_X && address >= begin &&
		    address < begin + header->p_memsz)
			return true;
	}
	return false;
}

/* From LAST_USED on all are the same, but for the last one. */
static bool is_table(const struct table_search *search, const u64 *words)
{
	u32 in_loop = 0;

	for (u32 i = LAST_USED + 1; i < OPCODE_DO_TRACING; i++) {
		if (words[i] != words[OPCODE_DO_TRACING - 1])
			return false;
	}
	for (u32 i = 0; i < TABLE_WORDS; i++)
		in_loop += (u32)code_ranges_have(search->layout->loop, words[i]);
	return words[OPCODE_DO_TRACING] != words[OPCODE_DO_TRACING - 1] &&
	       words[LAST_USED] != words[OPCODE_DO_TRACING - 1] && in_loop >= LEAST_IN_LOOP;
}

static void search_words(struct table_search *search, const struct dl_phdr_info *info,
			 const ElfW(Phdr) * header)
{
	u64 *words = (u64 *)((info->dlpi_addr + header->p_vaddr + 7) & ~7ULL);
	const size_t count = header->p_filesz / sizeof(u64);
	size_t run = 0;

	for (size_t i = 0; i < count; i++) {
		run = is_code(info, words[i]) ? run + 1 : 0;
		if (run < TABLE_WORDS || !is_table(search, &words[i + 1 - TABLE_WORDS]))
			continue;
		search->found = &words[i + 1 - TABLE_WORDS];
		search->protection = protection_of(
			info, (u64)search->found,
			header->p_flags & PF_W ? PROT_READ | PROT_WRITE : PROT_READ);
		search->count++;
	}
}

static int search_image(struct dl_phdr_info *info, size_t size, void *data)
{
	struct table_search *search = data;
	bool has_loop = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const u64 begin = info->dlpi_addr + header->p_vaddr;

		has_loop =
			has_loop || (header->p_type == PT_LOAD && header->p_flags & PF_X &&
				     search->layout->loop[0].start >= begin &&
				     search->layout->loop[0].start < begin + header->p_memsz);
	}
	for (int i = 0; has_loop && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD && header->p_flags & PF_R &&
		    !(header->p_flags & PF_X))
			search_words(search, info, header);
	}
	return has_loop;
}

/* Its protection is found with it: there is one table in a process. */
static int table_protection;

void **trace_frames_find_table(const struct python_layout *layout)
{
	struct table_search search = { .layout = layout };

	dl_iterate_phdr(search_image, &search);
	table_protection = search.protection;
	return search.count == 1 ? (void **)search.found : NULL;
}

bool trace_frames_write_table(void **table, void *const *targets)
{
	const u64 begin = (u64)table & ~(ARCH_LEAST_PAGE - 1);
	const u64 end =
		((u64)(table + TABLE_WORDS) + ARCH_LEAST_PAGE - 1) & ~(ARCH_LEAST_PAGE - 1);

	if (arch_syscall4(SYS_mprotect, (long)begin, (long)(end - begin),
			  PROT_READ | PROT_WRITE, 0) < 0)
		return false;
	/* Others may be executing by it, in another interpreter. */
	for (u32 i = 0; i < TABLE_WORDS; i++) {
		if (table[i] != targets[i])
			__atomic_store_n(&table[i], targets[i], __ATOMIC_RELAXED);
	}
	arch_syscall4(SYS_mprotect, (long)begin, (long)(end - begin), table_protection, 0);
	return true;
}
