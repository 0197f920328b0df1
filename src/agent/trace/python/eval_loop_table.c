/*
 * Finds and writes the eval loop's table of instructions: 256 words of data that all point to the
 * loop's code, in the image that contains the loop (opcode_targets[], Python/opcode_targets.h).
 */
#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "abi/python_layout.h"
#include "agent/core/arch.h"
#include "agent/core/images.h"
#include "agent/trace/map.h"
#include "agent/trace/python/eval_loop.h"

#define LEAST_IN_LOOP 96U
#define SEARCH_STEP   128U

struct table_search {
	const struct loop_shape *shape;
	u64 code, code_bytes;
	u64 *found;
	int protection; /* of the table's pages */
	u32 count;
};

/*
 * The protection of an address: the dynamic linker makes PT_GNU_RELRO read-only after relocation.
 */
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

/* Bounds of the segment that contains the loop, some parts of which lie apart from it. */
static void find_code(const struct dl_phdr_info *info, struct table_search *search)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const u64 begin = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && header->p_flags & PF_X &&
		    search->shape->layout->loop[0].start - begin < header->p_memsz) {
			search->code = begin;
			search->code_bytes = header->p_memsz;
		}
	}
}

static inline bool is_code(const struct table_search *search, u64 address)
{
	return address - search->code < search->code_bytes;
}

static bool is_table(const struct table_search *search, const u64 *words)
{
	const u8 first = search->shape->first_unused, last = search->shape->last_unused;
	const u64 unused = words[first];
	u32 in_loop = 0;

	for (u32 i = first; i <= last; i++) {
		if (words[i] != unused)
			return false;
	}
	for (u32 i = 0; i < LOOP_TABLE_WORDS; i++) {
		if (!is_code(search, words[i]))
			return false;
		in_loop += (u32)code_ranges_have(search->shape->layout->loop, words[i]);
	}
	const u64 behind = last < LOOP_TABLE_WORDS - 1 ? words[last + 1] : 0;

	/*
	 * 3.15 also has a table for recording traces, in which all used opcodes have one address.
	 */
	return behind != unused && words[first - 1] != unused &&
	       words[search->shape->call] != behind && in_loop >= LEAST_IN_LOOP;
}

/*
 * Searches megabytes of data fast: a table can only be where each run of SEARCH_STEP words, half
 * its length, ends with an address of code.
 */
static void search_words(struct table_search *search, const struct dl_phdr_info *info,
			 const ElfW(Phdr) * header)
{
	u64 *words = (u64 *)((info->dlpi_addr + header->p_vaddr + 7) & ~7ULL);
	const size_t count = header->p_filesz / sizeof(u64);

	for (size_t at = 0; at + LOOP_TABLE_WORDS <= count; at++) {
		if (at % SEARCH_STEP == 0 && !is_code(search, words[at + SEARCH_STEP - 1])) {
			at += SEARCH_STEP - 1;
			continue;
		}
		if (!is_table(search, &words[at]))
			continue;
		search->found = &words[at];
		search->protection = protection_of(
			info, (u64)search->found,
			header->p_flags & PF_W ? PROT_READ | PROT_WRITE : PROT_READ);
		search->count++;
	}
}

/*
 * Whether the loop may have assertions compiled in, as debug builds do.  In 3.11 one says that
 * specialised instructions never run with the tracing flag, which we set; in later versions, that
 * some instructions are only reached from certain others.
 */
static bool has_assertions(const struct dl_phdr_info *info)
{
	return images_wanted(info, "__assert_fail") != IMAGES_NOT_WANTED;
}

static int search_image(struct dl_phdr_info *info, size_t size, void *data)
{
	struct table_search *search = data;

	(void)size;
	find_code(info, search);
	if (search->code_bytes == 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum && !has_assertions(info); i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD && header->p_flags & PF_R &&
		    !(header->p_flags & PF_X))
			search_words(search, info, header);
	}
	return 1;
}

bool trace_eval_loop_find_table(const struct loop_shape *shape, struct loop_table *out_table)
{
	struct table_search search = { .shape = shape };

	dl_iterate_phdr(search_image, &search);
	*out_table =
		(struct loop_table){ .words = search.count == 1 ? (void **)search.found : NULL,
				     .protection = search.protection,
				     .code = search.code,
				     .code_bytes = search.code_bytes };
	return out_table->words != NULL;
}

bool trace_eval_loop_write_table(const struct loop_table *table, void *const *targets)
{
	const u64 begin = (u64)table->words & ~(ARCH_LEAST_PAGE - 1);
	const u64 end = ((u64)(table->words + LOOP_TABLE_WORDS) + ARCH_LEAST_PAGE - 1) &
			~(ARCH_LEAST_PAGE - 1);

	if (arch_syscall4(SYS_mprotect, (long)begin, (long)(end - begin),
			  PROT_READ | PROT_WRITE, 0) < 0)
		return false;
	/* Threads of other interpreters may be using the table. */
	for (u32 i = 0; i < LOOP_TABLE_WORDS; i++) {
		if (table->words[i] != targets[i])
			__atomic_store_n(&table->words[i], targets[i], __ATOMIC_RELAXED);
	}
	trace_protect_again(begin, end, table->protection);
	return true;
}
