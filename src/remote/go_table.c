#include "remote/go_table.h"

#include <string.h>

#include "base/bytes.h"
#include "target/elf_file.h"

#define MAGIC_1_18 0xfffffff0U
#define MAGIC_1_20 0xfffffff1U
/* By enum abi.FuncFlag. */
#define FLAG_TOP_FRAME 1U
#define FLAG_SP_WRITE  2U
/*
 * The step table of a function is read in pieces of this size; the largest has some thousand
 * bytes.
 */
#define STEPS_BYTES 4096U
#define RECORD_SIZE 48U
/* Offset in a function's record. */
#define STEPS_AT 16U
/* No frame is larger. */
#define DEPTH_MAX (1 << 28)

struct header {
	uint32_t magic;
	uint8_t zero[2], quantum, pointer_size;
	uint64_t functions, files, text, names, units, file_names, steps, index;
};

static bool find_section(const struct elf_file *elf, struct go_table *table)
{
	struct elf_file_symbol place;

	if (!elf_file_find_section(elf, ".gopclntab", &place) &&
	    !elf_file_find_section(elf, ".data.rel.ro.gopclntab", &place))
		return false;
	table->address = place.address;
	table->size = place.size;
	return true;
}

/* Finds the address of the code: from Go 1.26 on the table does not contain it. */
static bool find_text(struct elf_file *elf, uint64_t in_header, struct go_table *table)
{
	struct elf_file_symbol text = { .address = in_header };

	if (elf_file_has(elf, "runtime.text") &&
	    elf_file_find_any(elf, "runtime.text", &text)) {
		table->text = text.address;
		return true;
	}
	if (text.address == 0 && !elf_file_find_section(elf, ".text", &text))
		return false;
	table->text = text.address;
	return true;
}

bool go_table_read(struct elf_file *elf, struct go_table *out_table)
{
	struct go_table table = { 0 };
	struct header header;

	if (!find_section(elf, &table) || table.size < sizeof header ||
	    !elf_file_read(elf, table.address, &header, sizeof header) ||
	    (header.magic != MAGIC_1_18 && header.magic != MAGIC_1_20) ||
	    header.pointer_size != 8 || header.quantum == 0 || header.steps >= table.size ||
	    header.index >= table.size || header.functions > (table.size - header.index) / 8 ||
	    !find_text(elf, header.text, &table))
		return false;
	table.steps = header.steps;
	table.functions = header.index;
	table.count = header.functions;
	table.quantum = header.quantum;
	/* Go 1.20 inserted the function's first line before the flags. */
	table.flags_at = header.magic == MAGIC_1_20 ? 41 : 37;
	*out_table = table;
	return true;
}

static bool read_at(const struct elf_file *elf, const struct go_table *table, uint64_t at,
		    void *bytes, size_t len)
{
	return at <= table->size && len <= table->size - at &&
	       elf_file_read(elf, table->address + at, bytes, len);
}

/* Finds the function in the index: its start and the offset of its record. */
static bool find_function(const struct elf_file *elf, const struct go_table *table,
			  uint64_t offset, uint32_t out_entry[2])
{
	uint64_t low = 0, high = table->count;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;
		uint32_t entry[2];

		if (!read_at(elf, table, table->functions + middle * 8, entry, sizeof entry))
			return false;
		if (entry[0] <= offset)
			low = middle;
		else
			high = middle;
	}
	return high > low &&
	       read_at(elf, table, table->functions + low * 8, out_entry,
		       2 * sizeof *out_entry) &&
	       out_entry[0] <= offset;
}

/*
 * The value at a code offset; the table has pairs of a signed step in value and one in offset.
 */
static bool find_step(const struct go_table *table, const uint8_t *bytes, size_t len,
		      uint64_t offset, int64_t *out_number)
{
	struct bytes b = bytes_of(bytes, len);
	uint64_t place = 0;
	int64_t number = -1;

	for (bool is_first = true; !b.short_read; is_first = false) {
		const uint64_t step = bytes_varint(&b);

		if (step == 0 && !is_first)
			return false;
		number += (step & 1) != 0 ? -(int64_t)(step >> 1) - 1 : (int64_t)(step >> 1);
		place += bytes_varint(&b) * table->quantum;
		if (number > DEPTH_MAX || number < -DEPTH_MAX || place > UINT32_MAX)
			return false;
		if (!b.short_read && offset < place) {
			*out_number = number;
			return true;
		}
	}
	return false;
}

bool go_table_find(const struct elf_file *elf, const struct go_table *table, uint64_t address,
		   struct go_frame *out_frame)
{
	uint8_t record[RECORD_SIZE], steps[STEPS_BYTES];
	const uint64_t offset = address - table->text;
	uint32_t entry[2], at;
	int64_t depth;

	if (table->size == 0 || address < table->text || offset > UINT32_MAX ||
	    !find_function(elf, table, offset, entry) ||
	    !read_at(elf, table, table->functions + entry[1], record, sizeof record))
		return false;
	memcpy(&at, record + STEPS_AT, sizeof at);
	const uint64_t begin = table->steps + at;
	const uint64_t left = begin < table->size ? table->size - begin : 0;
	const size_t len = left < sizeof steps ? (size_t)left : sizeof steps;

	if (at == 0 || !read_at(elf, table, begin, steps, len) ||
	    !find_step(table, steps, len, offset - entry[0], &depth) || depth < 0)
		return false;
	*out_frame = (struct go_frame){
		.depth = (uint32_t)depth,
		.is_last = (record[table->flags_at] & FLAG_TOP_FRAME) != 0,
		.moves_stack = (record[table->flags_at] & FLAG_SP_WRITE) != 0,
	};
	return true;
}
