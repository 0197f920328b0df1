/*
 * frame_entries - lists the functions of a file by address, with or without names.
 *
 * Each function has an entry in the unwind table .eh_frame (an FDE), and .eh_frame_hdr lists
 * these in the order of their addresses. Both remain in stripped files.
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

/* A function's entry (FDE). */
struct frame_entry {
	struct code_range range;
	/*
	 * The frame already exists before its first instruction: it is not a function, but a
	 * part of one that the compiler placed elsewhere.
	 */
	bool begins_with_frame;
};

/*
 * False, and no entries, if the file lacks a list in the usual encoding. Call
 * frame_entries_done() in either case.
 */
bool frame_entries_read(const struct elf_file *elf, struct frame_entries *out_entries);
void frame_entries_done(struct frame_entries *entries);

/* The index + 1 of the last entry that begins at or before the address; 0: none. */
size_t frame_entries_at(const struct frame_entries *entries, uint64_t address);
/* Finds the entry that contains the address. */
bool frame_entries_find(const struct elf_file *elf, const struct frame_entries *entries,
			uint64_t address, struct frame_entry *out_entry);
