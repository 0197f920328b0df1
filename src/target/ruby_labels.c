/*
 * Finds the code addresses of instructions. Compiled Ruby is an array of words, in which each
 * instruction begins with the address of its code: a label in the function vm_exec_core()
 * (vm_exec.c, OPT_DIRECT_THREADED_CODE). The iseq compiler takes them from a table by opcode,
 * insns_address_table, which is static in that function. Neither has a name once a file is
 * stripped, but the table is unique: hundreds of consecutive words that are addresses in one
 * function. (The next longest such table is in the regular expression matcher, with 98.)
 */
#include "ruby_labels.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "elf_file.h"
#include "frame_entries.h"

#define WORDS 4096u

/* Consecutive words that are code addresses: their place, number, and FDE. */
struct run {
	uint64_t address;
	size_t len, function;
};

struct search {
	const struct frame_entries *entries;
	struct elf_file *elf;
	struct run now, longest;
};

static void take_word(struct search *search, uint64_t address, uint64_t word)
{
	const struct elf_file_load *load = elf_file_load_at(search->elf, word);
	struct run *now = &search->now;
	size_t function = 0;

	if (load && load->is_executable)
		function = frame_entries_at(search->entries, word);
	if (function == 0 || function != now->function)
		*now = (struct run){ .address = address, .function = function };
	now->len++;
	if (function != 0 && now->len > search->longest.len)
		search->longest = *now;
}

static void search_segment(struct search *search, const struct elf_file_load *load)
{
	const uint64_t start = (load->address + 7) & ~7ULL;
	const uint64_t end = elf_file_end_of(search->elf, load);
	CLEANUP(freep) uint64_t *words = xreallocarray(NULL, WORDS, sizeof *words);

	search->now = (struct run){ .len = 0 };
	for (uint64_t at = start; at < end && end - at >= 8; at += WORDS * 8) {
		const size_t count = (end - at) / 8 < WORDS ? (end - at) / 8 : WORDS;

		if (!elf_file_read_pointers(search->elf, at, words, count))
			return;
		for (size_t i = 0; i < count; i++)
			take_word(search, at + i * 8, words[i]);
	}
}

/* In position-independent code, tables of pointers are writable for relocation; else not. */
static void search_all(struct search *search)
{
	for (int is_writable = 1; is_writable >= 0; is_writable--) {
		for (size_t i = 0; i < search->elf->load_count; i++) {
			const struct elf_file_load *load = &search->elf->loads[i];

			if (!load->is_executable && load->is_writable == is_writable)
				search_segment(search, load);
		}
	}
}

static bool are_in(const struct ruby_labels *labels, struct code_range function)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (labels->addresses[i] >= function.end)
			return false;
	}
	return true;
}

int ruby_labels_find(struct elf_file *elf, const struct frame_entries *entries,
		     struct ruby_labels *out_labels, struct error *err)
{
	struct search search = { .entries = entries, .elf = elf };
	struct frame_entry entry;

	*out_labels = (struct ruby_labels){ .count = 0 };
	search_all(&search);
	out_labels->count = search.longest.len;
	if (search.longest.len > RUBY_MAX_INSTRUCTIONS ||
	    !elf_file_read_pointers(elf, search.longest.address, out_labels->addresses,
				    search.longest.len) ||
	    !frame_entries_find(elf, entries, out_labels->addresses[0], &entry) ||
	    entry.begins_with_frame || !are_in(out_labels, entry.range))
		return error_set(err, -ENOTSUP, "the code of its instructions cannot be found");
	out_labels->core = entry.range;
	return 0;
}
