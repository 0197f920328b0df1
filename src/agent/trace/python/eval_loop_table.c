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
#include "agent/core/image_parts.h"
#include "agent/core/images.h"
#include "agent/trace/map.h"
#include "agent/trace/python/eval_loop.h"

#define LEAST_IN_LOOP 96U
#define SEARCH_STEP   128U

struct table_search {
	const struct loop_shape *shape;
	struct image_parts image;
	struct image_part code; /* the segment of the loop, some parts of which lie apart */
	u64 *found;
	u32 count;
};

static inline bool is_code(const struct table_search *search, u64 address)
{
	return address - search->code.start < search->code.end - search->code.start;
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

	/* 3.15 has another table, for recording traces: all used opcodes have one address. */
	return behind != unused && words[first - 1] != unused &&
	       words[search->shape->call] != behind && in_loop >= LEAST_IN_LOOP;
}

/*
 * Searches megabytes of data fast: a table can only be where each run of SEARCH_STEP words, half
 * its length, ends with an address of code.
 */
static void search_words(struct table_search *search, const struct image_part *part)
{
	u64 *words = (u64 *)((part->start + 7) & ~7ULL);
	const size_t count = (part->file_end - part->start) / sizeof(u64);

	for (size_t at = 0; at + LOOP_TABLE_WORDS <= count; at++) {
		if (at % SEARCH_STEP == 0 && !is_code(search, words[at + SEARCH_STEP - 1])) {
			at += SEARCH_STEP - 1;
			continue;
		}
		if (!is_table(search, &words[at]))
			continue;
		search->found = &words[at];
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
	const u64 loop = search->shape->layout->loop[0].start;

	(void)size;
	image_parts_read(info, &search->image);
	const struct image_part *code = image_parts_at(&search->image, loop, loop + 1, PF_X);

	if (code == NULL)
		return 0;
	search->code = *code;
	for (u32 i = 0; i < search->image.count && !has_assertions(info); i++) {
		if ((search->image.parts[i].flags & (PF_R | PF_X)) == PF_R)
			search_words(search, &search->image.parts[i]);
	}
	return 1;
}

bool trace_eval_loop_find_table(const struct loop_shape *shape, struct loop_table *out_table)
{
	struct table_search search = { .shape = shape };

	dl_iterate_phdr(search_image, &search);
	const u64 found = (u64)search.found;
	const bool is_writable = image_parts_have(&search.image, found,
						  found + LOOP_TABLE_WORDS * sizeof(u64), PF_W);

	*out_table = (struct loop_table){
		.words = search.count == 1 ? (void **)search.found : NULL,
		.protection = is_writable ? PROT_READ | PROT_WRITE : PROT_READ,
	};
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
