/*
 * Beside the table that the loop goes by from one instruction to the next (opcode_targets[]) it
 * has `switch (opcode)`, for whose cases the compiler makes a table of its own: of addresses
 * where the program is at a fixed place, else of 32-bit distances from the table.  Both lead to
 * the same places.  So the second is known by its contents: most of its entries are the
 * first's.
 *
 * Where the processor checks indirect jumps (CET) a place begins with an instruction that marks
 * it, endbr64, for those by opcode_targets[]; the switch's jump is exempt, and leads behind it.
 */
#include "vantage/agent/trace/trace_map.h"
#include "vantage/agent/trace/python/trace_evaluator.h"

#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "abi/python_layout.h"
#include "agent/core/arch.h"
#include "vantage/agent/trace/python/trace_evaluator_own.h"
#include "vantage/agent/trace/native/trace_near.h"

#define LAST_OPCODE 165U
#define LEAST_EQUAL 100U
#define MARK_BYTES  4U

struct search {
	const struct python_layout *layout;
	u64 loop_table; /* which is not it */
	struct switch_table *found;
	u32 count;
	u64 image; /* where it begins */
	u64 first; /* of the opcode that is looked for first: where its entry leads, */
	u64 behind_mark;
};

static u64 behind_mark(u64 address)
{
	static const u8 mark[MARK_BYTES] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */

	return __builtin_memcmp((const void *)address, mark, sizeof mark) == 0
		       ? address + MARK_BYTES
		       : address;
}

static bool leads_to(u64 address, u32 opcode)
{
	const u64 original = (u64)trace_evaluator_originals[opcode];

	return address == original || address == behind_mark(original);
}

static u64 target_at(const struct switch_table *table, u32 opcode)
{
	if (!table->is_of_distances)
		return ((const u64 *)table->address)[opcode];
	return table->address + (u64)(s64)((const s32 *)table->address)[opcode];
}

static bool is_table(const struct switch_table *table)
{
	u32 equal = 0;

	for (size_t i = 0; i < EVALUATOR_STUBS; i++) {
		if (!leads_to(target_at(table, trace_evaluator_stubs[i].opcode),
			      trace_evaluator_stubs[i].opcode))
			return false;
	}
	for (u32 opcode = 1; opcode <= LAST_OPCODE; opcode++)
		equal += leads_to(target_at(table, opcode), opcode);
	return equal >= LEAST_EQUAL;
}

static void look_at(struct search *search, const struct switch_table *table)
{
	if (table->address == search->loop_table || !is_table(table))
		return;
	*search->found = *table;
	search->count++;
}

/* In megabytes: one entry is looked for, and only around it the others. */
static void search_words(struct search *search, u64 begin, u64 end)
{
	u64 at = begin + sizeof(u64) * OPCODE_CALL_FUNCTION;

	for (; at + sizeof(u64) * (LAST_OPCODE + 1 - OPCODE_CALL_FUNCTION) <= end;
	     at += sizeof(u64)) {
		const u64 target = *(const u64 *)at;

		if (target == search->first || target == search->behind_mark)
			look_at(search,
				&(struct switch_table){
					.address = at - sizeof(u64) * OPCODE_CALL_FUNCTION });
	}
}

static void search_distances(struct search *search, u64 begin, u64 end)
{
	u64 at = begin + sizeof(s32) * OPCODE_CALL_FUNCTION;

	for (; at + sizeof(s32) * (LAST_OPCODE + 1 - OPCODE_CALL_FUNCTION) <= end;
	     at += sizeof(s32)) {
		const u64 table = at - sizeof(s32) * OPCODE_CALL_FUNCTION;
		const u64 target = table + (u64)(s64) * (const s32 *)at;

		if (target == search->first || target == search->behind_mark)
			look_at(search, &(struct switch_table){ .address = table,
								.is_of_distances = true });
	}
}

/* In what is only read. */
static void search_segments(struct search *search, const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const u64 begin = (info->dlpi_addr + header->p_vaddr + 7) & ~7ULL;

		if (header->p_type != PT_LOAD ||
		    (header->p_flags & (PF_R | PF_W | PF_X)) != PF_R ||
		    header->p_filesz < sizeof(u64) * LOOP_TABLE_WORDS)
			continue;
		search_words(search, begin, begin - 8 + header->p_filesz);
		search_distances(search, begin, begin - 8 + header->p_filesz);
	}
}

static int search_image(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const u64 loop = search->layout->loop[0].start;
	bool has_loop = false;

	(void)size;
	search->image = ~0ULL;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const u64 begin = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		search->image = begin < search->image ? begin : search->image;
		has_loop = has_loop || loop - begin < header->p_memsz;
	}
	if (has_loop)
		search_segments(search, info);
	return has_loop;
}

bool trace_evaluator_find_switch(const struct python_layout *layout, const void *loop_table,
				 struct switch_table *out)
{
	const u64 first = (u64)trace_evaluator_originals[OPCODE_CALL_FUNCTION];
	struct search search = { .layout = layout,
				 .loop_table = (u64)loop_table,
				 .found = out,
				 .first = first,
				 .behind_mark = behind_mark(first) };
	u64 targets[EVALUATOR_STUBS];

	dl_iterate_phdr(search_image, &search);
	if (search.count != 1 || !out->is_of_distances)
		return search.count == 1;
	for (size_t i = 0; i < EVALUATOR_STUBS; i++)
		targets[i] = (u64)trace_evaluator_stubs[i].stub;
	out->jumps = trace_near_jumps(search.image, out->address, targets, EVALUATOR_STUBS);
	return out->jumps != 0;
}

static void write_entry(const struct switch_table *table, size_t stub, bool has_stub)
{
	const u32 opcode = trace_evaluator_stubs[stub].opcode;
	const u64 original = behind_mark((u64)trace_evaluator_originals[opcode]);

	if (table->is_of_distances) {
		const u64 target = has_stub ? table->jumps + stub * TRACE_NEAR_STEP : original;

		__atomic_store_n((s32 *)table->address + opcode, (s32)(target - table->address),
				 __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n((u64 *)table->address + opcode,
			 has_stub ? (u64)trace_evaluator_stubs[stub].stub : original,
			 __ATOMIC_RELAXED);
}

bool trace_evaluator_write_switch(const struct switch_table *table, bool has_stubs)
{
	const u64 bytes =
		LOOP_TABLE_WORDS * (table->is_of_distances ? sizeof(s32) : sizeof(u64));
	const u64 begin = table->address & ~(ARCH_LEAST_PAGE - 1);
	const u64 end = (table->address + bytes + ARCH_LEAST_PAGE - 1) & ~(ARCH_LEAST_PAGE - 1);

	if (arch_syscall4(SYS_mprotect, (long)begin, (long)(end - begin),
			  PROT_READ | PROT_WRITE, 0) < 0)
		return false;
	for (size_t i = 0; i < EVALUATOR_STUBS; i++)
		write_entry(table, i, has_stubs);
	trace_protect_again(begin, end, PROT_READ);
	return true;
}
