/*
 * A compiler moves what it takes for unlikely out of a function, into a part of its own
 * ("name.cold") that is far away and has no symbol once a file is stripped.  It is still jumped
 * to from the function, and it has an entry of its own in the table of unwind rules, .eh_frame:
 * an FDE.  A function's own FDE begins as its call left things: the frame begins right above
 * the return address, and nothing has been saved yet.  The one of a part begins in the middle
 * of the function: before its first instruction the stack pointer has been moved, or registers
 * saved.
 *
 * So what the loop jumps to, what begins with a frame and jumps back is a part of the loop.
 * (That a function ends with a jump to another function is common, but that one begins at its
 * beginning.  Bytes that look like a jump by chance hit a part of another function now and
 * then; that one jumps elsewhere.)  A part may be most of the loop: where the training of a
 * build has not reached it (Debian's 3.14 and 3.15), all but the beginning has been moved out.
 */
#include "function_parts.h"

#include <string.h>

#include "base/memory.h"
#include "code_bytes.h"
#include "elf_file.h"
#include "frame_entries.h"

/* Whether the range's code jumps to one of the ranges. */
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

/* Adds the part that the address is in, if it is one and there is room. */
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

/* Adds the parts that the code of a range jumps to. */
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
