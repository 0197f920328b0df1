/*
 * Finds rb_vm_exec(). One call of it executes a method that C code has called, and everything
 * that method calls. For that it calls vm_exec_core(), or just-in-time compiled code, and calls
 * it again after each exception; so its own frame is on the stack in all cases. Its name is
 * exported up to 3.2. In all versions it can be found as the function that calls
 * vm_exec_core(). (rb_vm_get_insns_address_table() also calls it, for the labels, but only in
 * builds where the compiler does not turn that call into a jump.)
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "code_bytes.h"
#include "elf_file.h"
#include "frame_entries.h"
#include "function_parts.h"
#include "ruby_labels.h"

/*
 * Code is searched in pieces of this size, which overlap by more than the longest call
 * instruction.
 */
#define PIECE   (1u << 20)
#define OVERLAP 8u

struct search {
	const struct elf_file *elf;
	const struct frame_entries *entries;
	uint64_t callee;
	struct code_range *loop;
	bool has_no_room;
};

static void add_range(struct search *search, struct code_range range)
{
	size_t i = 0;

	while (i < CODE_RANGES && search->loop[i].end != 0)
		i++;
	if (i < CODE_RANGES)
		search->loop[i] = range;
	else
		search->has_no_room = true;
}

/* Handles a call at this address: adds the function that contains it, with all its parts. */
static void take_call(struct search *search, uint64_t address)
{
	struct code_range parts[CODE_RANGES];
	struct frame_entry entry;

	if (code_ranges_have(search->loop, address) ||
	    !frame_entries_find(search->elf, search->entries, address, &entry))
		return;
	const struct elf_file_symbol function = { entry.range.start,
						  entry.range.end - entry.range.start };

	if (!function_parts_find(search->elf, search->entries, &function, parts))
		return;
	for (size_t i = 0; i < CODE_RANGES && parts[i].end != 0; i++) {
		if (!code_ranges_have(search->loop, parts[i].start))
			add_range(search, parts[i]);
	}
}

static void search_piece(struct search *search, struct code_range range)
{
	CLEANUP(code_bytes_done) struct code_bytes code;

	if (!code_bytes_read(search->elf, range, &code))
		return;
	for (size_t at = 0;; at++) {
		at = machine_code_find_call(code.machine, code.bytes, code.len, at, code.start,
					    search->callee);
		if (at == code.len)
			return;
		take_call(search, code.start + at);
	}
}

static void search_segment(struct search *search, const struct elf_file_load *load)
{
	const uint64_t end = elf_file_end_of(search->elf, load);

	for (uint64_t at = load->address; at < end; at += PIECE) {
		const uint64_t left = end - at;
		const struct code_range range = { at, left > PIECE + OVERLAP
							      ? at + PIECE + OVERLAP
							      : end };

		search_piece(search, range);
	}
}

int ruby_loop_find(const struct elf_file *elf, const struct frame_entries *entries,
		   uint64_t core, struct code_range out_loop[CODE_RANGES], struct error *err)
{
	struct search search = {
		.elf = elf, .entries = entries, .callee = core, .loop = out_loop
	};

	memset(out_loop, 0, CODE_RANGES * sizeof out_loop[0]);
	for (size_t i = 0; i < elf->load_count; i++) {
		if (elf->loads[i].is_executable)
			search_segment(&search, &elf->loads[i]);
	}
	if (search.has_no_room)
		return error_set(err, -ENOTSUP, "too much code calls its interpreter's loop");
	if (out_loop[0].end == 0)
		return error_set(err, -ENOTSUP,
				 "what calls its interpreter's loop is not found");
	return 0;
}
