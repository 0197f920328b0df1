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

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "machine_code.h"
#include "elf_file.h"

/* The largest loop there is has some 75 KB. */
#define LOOP_MAX (4u << 20)
/* Of an FDE or a CIE, what is looked at. */
#define ENTRY_MAX 512u
/* As real linkers write it: 32 bits from the table's beginning, from the place itself. */
#define ENCODING_TABLE 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define ENCODING_COUNT 0x03 /* DW_EH_PE_udata4 */
#define ENCODING_PLACE 0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */

/* A row of .eh_frame_hdr: both are distances from the table's beginning. */
struct header_row {
	int32_t code, entry;
};

struct frame_index {
	uint64_t address;
	struct header_row *rows; /* sorted by code */
	size_t count;
};

/* An FDE. */
struct frame_entry {
	struct code_range range;
	bool begins_with_frame;
};

static bool read_index(const struct elf_file *elf, struct frame_index *out_index)
{
	struct {
		uint8_t version, pointer, count, table;
		int32_t frames;
		uint32_t rows;
	} head;

	if (elf->frame_header == 0 ||
	    !elf_file_read(elf, elf->frame_header, &head, sizeof head) || head.version != 1 ||
	    head.count != ENCODING_COUNT || head.table != ENCODING_TABLE ||
	    head.rows > elf->size / sizeof(struct header_row))
		return false;
	out_index->address = elf->frame_header;
	out_index->count = head.rows;
	out_index->rows = xreallocarray(NULL, head.rows + 1UL, sizeof(struct header_row));
	return elf_file_read(elf, elf->frame_header + sizeof head, out_index->rows,
			     head.rows * sizeof(struct header_row));
}

/* A CIE or FDE without its length; what is longer than ENTRY_MAX is cut off. */
static bool read_entry(const struct elf_file *elf, uint64_t address, uint8_t buffer[ENTRY_MAX],
		       struct bytes *out_bytes)
{
	uint32_t len;

	if (!elf_file_read_u32(elf, address, &len) || len == 0 || len >= 0xfffffff0)
		return false;
	len = len < ENTRY_MAX ? len : ENTRY_MAX;
	if (!elf_file_read(elf, address + 4, buffer, len))
		return false;
	*out_bytes = bytes_of(buffer, len);
	return true;
}

/* Whether the CIE's FDEs are written as ENCODING_PLACE, with or without augmentation data. */
static bool is_usual_cie(const struct elf_file *elf, uint64_t address, bool *out_has_data)
{
	uint8_t buffer[ENTRY_MAX];
	struct bytes b;

	if (!read_entry(elf, address, buffer, &b) || bytes_u32(&b) != 0)
		return false;

	uint8_t version = bytes_u8(&b);
	const char *letters = bytes_string(&b);

	bytes_varint(&b);
	bytes_svarint(&b);
	if (version == 1)
		bytes_u8(&b);
	else
		bytes_varint(&b);
	if (!letters || letters[0] != 'z')
		return false;
	*out_has_data = true;
	bytes_varint(&b);
	/* Other letters come with data of their own; what they are a loop's part has not. */
	return letters[1] == 'R' && bytes_u8(&b) == ENCODING_PLACE && !b.short_read;
}

/*
 * Whether the first instruction of the rules says where the frame begins, or where a register
 * has been saved, rather than that the location advances.
 */
static bool has_frame_at_once(struct bytes b)
{
	uint8_t op = bytes_u8(&b);

	switch (op) {
	case 0x05: /* DW_CFA_offset_extended */
	case 0x0c: /* DW_CFA_def_cfa */
	case 0x0d: /* DW_CFA_def_cfa_register */
	case 0x0e: /* DW_CFA_def_cfa_offset */
		return !b.short_read;
	default:
		return op >> 6 == 2 && !b.short_read; /* DW_CFA_offset */
	}
}

static bool read_frame_entry(const struct elf_file *elf, uint64_t address,
			     struct frame_entry *out_entry)
{
	uint8_t buffer[ENTRY_MAX];
	bool has_data = false;
	struct bytes b;

	if (!read_entry(elf, address, buffer, &b))
		return false;

	uint32_t distance = bytes_u32(&b);

	if (distance == 0 || !is_usual_cie(elf, address + 4 - distance, &has_data))
		return false;
	out_entry->range.start = address + 8 + (uint64_t)(int64_t)(int32_t)bytes_u32(&b);
	out_entry->range.end = out_entry->range.start + bytes_u32(&b);
	bytes_take(&b, has_data ? bytes_varint(&b) : 0);
	out_entry->begins_with_frame = has_frame_at_once(b);
	return !b.short_read;
}

static bool find_entry(const struct elf_file *elf, const struct frame_index *index,
		       uint64_t address, struct frame_entry *out_entry)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->address + (uint64_t)(int64_t)index->rows[middle].code <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	return read_frame_entry(elf,
				index->address + (uint64_t)(int64_t)index->rows[low - 1].entry,
				out_entry) &&
	       address >= out_entry->range.start && address < out_entry->range.end;
}

static bool is_in(const struct code_range ranges[CODE_RANGES], uint64_t address)
{
	for (size_t i = 0; i < CODE_RANGES; i++) {
		if (address >= ranges[i].start && address < ranges[i].end)
			return true;
	}
	return false;
}

/* Code with its address. */
struct code {
	uint64_t start;
	size_t len;
	uint8_t *bytes; /* malloc'ed */
};

static void code_done(struct code *code)
{
	free(code->bytes);
}

static bool read_code(const struct elf_file *elf, struct code_range range,
		      struct code *out_code)
{
	*out_code = (struct code){ range.start, range.end - range.start, NULL };
	if (range.end <= range.start || out_code->len > LOOP_MAX)
		return false;
	out_code->bytes = xmalloc(out_code->len);
	return elf_file_read(elf, range.start, out_code->bytes, out_code->len);
}

/* Where the next jump leads to, of those from byte *at on; false if there is none. */
static bool next_jump(const struct elf_file *elf, const struct code *code, size_t *at,
		      uint64_t *out_target)
{
	while (*at < code->len) {
		struct code_reference reference = machine_code_at(
			elf->machine, code->bytes, code->len, (*at)++, code->start);

		*out_target = reference.target;
		if (reference.kind == CODE_REFERENCE_JUMP)
			return true;
	}
	return false;
}

/* Whether the range's code jumps to one of the ranges. */
static bool jumps_back(const struct elf_file *elf, struct code_range range,
		       const struct code_range ranges[CODE_RANGES])
{
	CLEANUP(code_done) struct code code;
	uint64_t target;
	size_t at = 0;

	if (!read_code(elf, range, &code))
		return false;
	while (next_jump(elf, &code, &at, &target)) {
		if (is_in(ranges, target))
			return true;
	}
	return false;
}

/* Adds the part that the address is in, if it is one and there is room. */
static void add_part(const struct elf_file *elf, const struct frame_index *index,
		     uint64_t address, struct code_range ranges[CODE_RANGES])
{
	const struct elf_file_load *load = elf_file_load_at(elf, address);
	struct frame_entry entry;
	size_t i = 0;

	if (!load || !load->is_executable || !find_entry(elf, index, address, &entry) ||
	    !entry.begins_with_frame || !jumps_back(elf, entry.range, ranges))
		return;
	while (i < CODE_RANGES && ranges[i].end != 0)
		i++;
	if (i < CODE_RANGES)
		ranges[i] = entry.range;
}

/* Adds the parts that the code of a range jumps to. */
static bool add_parts_of(const struct elf_file *elf, const struct frame_index *index,
			 struct code_range range, struct code_range ranges[CODE_RANGES])
{
	CLEANUP(code_done) struct code code;
	uint64_t target;
	size_t at = 0;

	if (!read_code(elf, range, &code))
		return false;
	while (next_jump(elf, &code, &at, &target)) {
		if (!is_in(ranges, target))
			add_part(elf, index, target, ranges);
	}
	return true;
}

bool function_parts_find(const struct elf_file *elf, const struct elf_file_symbol *function,
			 struct code_range out_ranges[CODE_RANGES])
{
	struct frame_index index = { 0 };
	bool is_read = true;

	memset(out_ranges, 0, CODE_RANGES * sizeof out_ranges[0]);
	out_ranges[0] =
		(struct code_range){ function->address, function->address + function->size };
	if (!read_index(elf, &index))
		index.count = 0;
	for (size_t i = 0; i < CODE_RANGES && out_ranges[i].end != 0 && is_read; i++)
		is_read = add_parts_of(elf, &index, out_ranges[i], out_ranges);
	free(index.rows);
	return is_read;
}
