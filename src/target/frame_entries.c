#include "frame_entries.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "elf_file.h"

/* Bytes of an FDE or a CIE that are read. */
#define ENTRY_MAX 512u
/* The encodings that linkers use: 32 bits relative to the table, or to the field itself. */
#define ENCODING_TABLE 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define ENCODING_COUNT 0x03 /* DW_EH_PE_udata4 */
#define ENCODING_PLACE 0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */

/* Both are relative to the table's beginning. */
struct frame_row {
	int32_t code, entry;
};

bool frame_entries_read(const struct elf_file *elf, struct frame_entries *out_entries)
{
	struct {
		uint8_t version, pointer, count, table;
		int32_t frames;
		uint32_t rows;
	} head;

	*out_entries = (struct frame_entries){ .address = elf->frame_header };
	if (elf->frame_header == 0 ||
	    !elf_file_read(elf, elf->frame_header, &head, sizeof head) || head.version != 1 ||
	    head.count != ENCODING_COUNT || head.table != ENCODING_TABLE ||
	    head.rows > elf->size / sizeof(struct frame_row))
		return false;
	out_entries->rows = xreallocarray(NULL, head.rows + 1UL, sizeof(struct frame_row));
	if (elf_file_read(elf, elf->frame_header + sizeof head, out_entries->rows,
			  head.rows * sizeof(struct frame_row)))
		out_entries->count = head.rows;
	return out_entries->count > 0;
}

void frame_entries_done(struct frame_entries *entries)
{
	free(entries->rows);
	*entries = (struct frame_entries){ .rows = NULL };
}

/* Reads a CIE or FDE without its length field; cut at ENTRY_MAX. */
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

/* Whether the CIE's FDEs use ENCODING_PLACE, with or without augmentation data. */
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
	/* Other letters have data of their own; CIEs of interpreter loops lack these. */
	return letters[1] == 'R' && bytes_u8(&b) == ENCODING_PLACE && !b.short_read;
}

/*
 * Whether the first unwind instruction defines the frame's base or a saved register, instead of
 * advancing the location.
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

size_t frame_entries_at(const struct frame_entries *entries, uint64_t address)
{
	size_t low = 0, high = entries->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries->address + (uint64_t)(int64_t)entries->rows[middle].code <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool frame_entries_find(const struct elf_file *elf, const struct frame_entries *entries,
			uint64_t address, struct frame_entry *out_entry)
{
	size_t at = frame_entries_at(entries, address);

	if (at == 0)
		return false;
	return read_frame_entry(
		       elf, entries->address + (uint64_t)(int64_t)entries->rows[at - 1].entry,
		       out_entry) &&
	       address >= out_entry->range.start && address < out_entry->range.end;
}
