/*
 * Finds all parts of a function. A compiler moves code that it considers unlikely out of a
 * function, into a part ("name.cold") that is far away and has no symbol once the file is
 * stripped. The function jumps to it, and the part has its own FDE in the unwind table,
 * .eh_frame. A function's own FDE begins in the state after a call: the frame begins directly
 * above the return address, and nothing is saved yet. A part's FDE begins in the middle of the
 * function: the stack pointer is already moved, or registers are saved, before its first
 * instruction.
 *
 * So code is a part of the loop if the loop jumps to it, its FDE begins with a frame, and it
 * jumps back. (Functions often end with a jump to another function, but that enters at its
 * beginning. Bytes that look like a jump by chance may lead to another function's part; that
 * part jumps elsewhere.) A part may be most of the loop: in builds whose training did not reach
 * the loop (Debian's 3.14 and 3.15), all but the beginning was moved out.
 */
#include "function_parts.h"

#include <string.h>

#include "base/memory.h"
#include "code_bytes.h"
#include "elf_file.h"
#include "frame_entries.h"

/* Whether the range's code jumps into one of the ranges. */
static bool jumps_back(const struct elf_file *elf, struct code_range range,
		       const struct code_range ranges[CODE_RANGES])
{
	CLEANUP(code_bytes_done) struct code_bytes code;
	uint64_t target;
	size_t at = 0;

	if (!code_bytes_read(elf, range, &code))
		return false;
	while (code_bytes_next(&code, CODE_REFERENCE_JUMP, &at, &target)) {
		if (code_ranges_have(ranges, target))
			return true;
	}
	return false;
}

/* Adds the part that contains the address, if it is one and there is space. */
static void add_part(const struct elf_file *elf, const struct frame_entries *entries,
		     uint64_t address, struct code_range ranges[CODE_RANGES])
{
	const struct elf_file_load *load = elf_file_load_at(elf, address);
	struct frame_entry entry;
	size_t i = 0;

	if (!load || !load->is_executable ||
	    !frame_entries_find(elf, entries, address, &entry) || !entry.begins_with_frame ||
	    !jumps_back(elf, entry.range, ranges))
		return;
	while (i < CODE_RANGES && ranges[i].end != 0)
		i++;
	if (i < CODE_RANGES)
		ranges[i] = entry.range;
}

/* Adds the parts that a range's code jumps to. */
static bool add_parts_of(const struct elf_file *elf, const struct frame_entries *entries,
			 struct code_range range, struct code_range ranges[CODE_RANGES])
{
	CLEANUP(code_bytes_done) struct code_bytes code;
	uint64_t target;
	size_t at = 0;

	if (!code_bytes_read(elf, range, &code))
		return false;
	while (code_bytes_next(&code, CODE_REFERENCE_JUMP, &at, &target)) {
		if (!code_ranges_have(ranges, target))
			add_part(elf, entries, target, ranges);
	}
	return true;
}

bool function_parts_find(const struct elf_file *elf, const struct frame_entries *entries,
			 const struct elf_file_symbol *function,
			 struct code_range out_ranges[CODE_RANGES])
{
	bool is_read = true;

	memset(out_ranges, 0, CODE_RANGES * sizeof out_ranges[0]);
	out_ranges[0] =
		(struct code_range){ function->address, function->address + function->size };
	for (size_t i = 0; i < CODE_RANGES && out_ranges[i].end != 0 && is_read; i++)
		is_read = add_parts_of(elf, entries, out_ranges[i], out_ranges);
	return is_read;
}
