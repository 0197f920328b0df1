/*
 * frame_entries - the functions of a file by their code, names or none.
 *
 * Each has an entry in the table of unwind rules, .eh_frame (an FDE), and .eh_frame_hdr lists
 * those in the order of their addresses.  Both stay in stripped files.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/code_range.h"

struct elf_file;

struct frame_entries {
	uint64_t address; /* of .eh_frame_hdr */
	struct frame_row *rows;
	size_t count;
};

/* An FDE. */
struct frame_entry {
	struct code_range range;
	/*
	 * Before its first instruction the frame has been made already: it is no function, but
	 * a part of one that the compiler put elsewhere.
	 */
	bool begins_with_frame;
};

/* False, and no entries, when the file has no list of the usual kind.  frame_entries_done(). */
bool frame_entries_read(const struct elf_file *elf, struct frame_entries *out_entries);
void frame_entries_done(struct frame_entries *entries);

/* The number of the last entry that begins at the address or before it, + 1; 0: none does. */
size_t frame_entries_at(const struct frame_entries *entries, uint64_t address);
/* The entry that covers the address. */
bool frame_entries_find(const struct elf_file *elf, const struct frame_entries *entries,
			uint64_t address, struct frame_entry *out_entry);
