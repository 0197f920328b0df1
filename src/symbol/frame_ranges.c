/*
 * Parses .eh_frame, a list of records, each preceded by its length. A record whose second word
 * is 0 is a CIE: data shared by many functions, such as how addresses are encoded. Any other is
 * an FDE: that word is the distance back to its CIE, and a start and a length follow. (Linux
 * Standard Base, "Exception Frames"; encodings: "DWARF Exception Header Encoding".)
 */
#include "frame_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/order.h"
#include "elf_image.h"

enum {
	ENCODING_ABSPTR = 0x00,
	ENCODING_UDATA2 = 0x02,
	ENCODING_UDATA4 = 0x03,
	ENCODING_UDATA8 = 0x04,
	ENCODING_SDATA2 = 0x0a,
	ENCODING_SDATA4 = 0x0b,
	ENCODING_SDATA8 = 0x0c,
	ENCODING_FORMAT = 0x0f,
	ENCODING_PCREL = 0x10,
	ENCODING_RELATION = 0x70,
	ENCODING_UNKNOWN = 0xff,
};

/* "zPLRSBG" and possible extensions; longer strings are not supported. */
#define AUGMENTATION_MAX 16

struct parser {
	const uint8_t *data;
	size_t len;
	uint64_t address;
	bool is_64bit;
	uint64_t cie_offset; /* offset of the last CIE read */
	uint8_t cie_encoding;
	bool is_signal; /* the CIE's functions are signal frames */
};

static uint64_t take_encoded(struct bytes *b, uint8_t encoding, bool is_64bit)
{
	switch (encoding & ENCODING_FORMAT) {
	case ENCODING_ABSPTR:
		return is_64bit ? bytes_u64(b) : bytes_u32(b);
	case ENCODING_UDATA2:
		return bytes_u16(b);
	case ENCODING_UDATA4:
		return bytes_u32(b);
	case ENCODING_SDATA2:
		return (uint64_t)(int64_t)(int16_t)bytes_u16(b);
	case ENCODING_SDATA4:
		return (uint64_t)(int64_t)(int32_t)bytes_u32(b);
	case ENCODING_UDATA8:
	case ENCODING_SDATA8:
		return bytes_u64(b);
	default:
		b->short_read = true;
		return 0;
	}
}

/* The address encoding in a CIE's augmentation: each letter stands for a field. */
static uint8_t encoding_of_augmentation(struct bytes *b, const char *letters, bool is_64bit)
{
	if (*letters == '\0')
		return ENCODING_ABSPTR;
	if (*letters++ != 'z')
		return ENCODING_UNKNOWN;
	bytes_varint(b); /* length of the fields */
	for (; *letters; letters++) {
		if (*letters == 'R')
			return bytes_u8(b);
		if (*letters == 'L')
			bytes_u8(b);
		else if (*letters == 'P')
			take_encoded(b, bytes_u8(b), is_64bit);
		else if (*letters != 'S' && *letters != 'B' && *letters != 'G')
			return ENCODING_UNKNOWN;
	}
	return ENCODING_ABSPTR;
}

static uint8_t read_cie(struct parser *parser, uint64_t offset)
{
	parser->is_signal = false;
	if (offset >= parser->len)
		return ENCODING_UNKNOWN;
	struct bytes b = bytes_of(parser->data + offset, parser->len - offset);
	if (bytes_u32(&b) == UINT32_MAX)
		bytes_u64(&b);
	if (bytes_u32(&b) != 0)
		return ENCODING_UNKNOWN;
	uint8_t version = bytes_u8(&b);
	char letters[AUGMENTATION_MAX];
	size_t count = 0;
	do
		letters[count] = (char)bytes_u8(&b);
	while (letters[count] != '\0' && ++count < sizeof letters);
	if (count == sizeof letters)
		return ENCODING_UNKNOWN;
	bytes_varint(&b);  /* code alignment */
	bytes_svarint(&b); /* data alignment */
	if (version == 1)
		bytes_u8(&b); /* return address register */
	else
		bytes_varint(&b);
	parser->is_signal = letters[0] == 'z' && strchr(letters, 'S');
	uint8_t encoding = encoding_of_augmentation(&b, letters, parser->is_64bit);
	return b.short_read ? ENCODING_UNKNOWN : encoding;
}

static uint8_t encoding_of_cie(struct parser *parser, uint64_t offset)
{
	if (offset != parser->cie_offset) {
		parser->cie_encoding = read_cie(parser, offset);
		parser->cie_offset = offset;
	}
	return parser->cie_encoding;
}

static void read_fde(struct parser *parser, struct frame_ranges *ranges, struct bytes b,
		     uint8_t encoding)
{
	uint8_t relation = encoding & ENCODING_RELATION;

	if (encoding == ENCODING_UNKNOWN || (relation != 0 && relation != ENCODING_PCREL))
		return;
	uint64_t here = parser->address + (uint64_t)(b.at - parser->data);
	uint64_t start = take_encoded(&b, encoding, parser->is_64bit);
	/* The length is encoded like the start, but without a base. */
	uint64_t len = take_encoded(&b, encoding, parser->is_64bit);
	if (relation == ENCODING_PCREL)
		start += here;
	if (!parser->is_64bit)
		start &= UINT32_MAX;
	if (b.short_read || len == 0 || start == 0 || len > UINT64_MAX - start)
		return;
	ranges->ranges = array_grow(ranges->ranges, ranges->count, &ranges->capacity,
				    sizeof *ranges->ranges);
	ranges->ranges[ranges->count++] =
		(struct frame_range){ start, start + len, parser->is_signal };
}

static int compare_ranges(const void *left, const void *right)
{
	const struct frame_range *a = left;
	const struct frame_range *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* Linkers usually write sorted tables: checking takes less time than sorting. */
static bool is_sorted(const struct frame_ranges *ranges)
{
	for (size_t i = 1; i < ranges->count; i++) {
		if (compare_ranges(&ranges->ranges[i - 1], &ranges->ranges[i]) > 0)
			return false;
	}
	return true;
}

/*
 * Sorts by start, quickly; ranges with equal starts are rare, and are ordered by comparison
 * afterwards.
 */
static void sort(struct frame_ranges *ranges)
{
	struct ordered *order = xreallocarray(NULL, ranges->count, sizeof *order);
	struct frame_range *sorted = xreallocarray(NULL, ranges->count, sizeof *sorted);

	for (size_t i = 0; i < ranges->count; i++)
		order[i] = (struct ordered){ ranges->ranges[i].start, i };
	order_by_key(order, ranges->count);
	for (size_t i = 0; i < ranges->count; i++)
		sorted[i] = ranges->ranges[order[i].index];
	free(order);
	free(ranges->ranges);
	ranges->ranges = sorted;
	ranges->capacity = ranges->count;
	if (!is_sorted(ranges))
		qsort(ranges->ranges, ranges->count, sizeof *ranges->ranges, compare_ranges);
}

void frame_ranges_parse(struct frame_ranges *ranges, const void *data, size_t len,
			uint64_t address, bool is_64bit)
{
	struct parser parser = { .data = data,
				 .len = len,
				 .address = address,
				 .is_64bit = is_64bit,
				 .cie_offset = UINT64_MAX };
	struct bytes all = bytes_of(data, len);

	while (bytes_left(&all) >= 8) {
		uint64_t record_len = bytes_u32(&all);
		if (record_len == UINT32_MAX)
			record_len = bytes_u64(&all);
		const uint8_t *record = bytes_take(&all, record_len);
		if (!record)
			break;
		struct bytes b = bytes_of(record, record_len);
		uint64_t id_offset = (uint64_t)(record - parser.data);
		uint32_t back = bytes_u32(&b);
		if (b.short_read || back == 0 || back > id_offset)
			continue;
		read_fde(&parser, ranges, b, encoding_of_cie(&parser, id_offset - back));
	}
	if (!is_sorted(ranges))
		sort(ranges);
}

void frame_ranges_read(struct frame_ranges *ranges, const struct elf_image *image)
{
	GElf_Shdr header;
	size_t len;

	if (image->header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    !elf_image_section(image, ".eh_frame", &header))
		return;
	const void *data = elf_image_section_bytes(image, ".eh_frame", &len);
	if (data)
		frame_ranges_parse(ranges, data, len, header.sh_addr,
				   image->header.e_ident[EI_CLASS] == ELFCLASS64);
}

/* The number of ranges that start at or before the address. */
static size_t count_up_to(const struct frame_ranges *ranges, uint64_t address)
{
	size_t low = 0;
	size_t high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool frame_ranges_find(const struct frame_ranges *ranges, uint64_t address,
		       struct frame_range *out_range)
{
	size_t i = count_up_to(ranges, address);

	if (i == 0 || address >= ranges->ranges[i - 1].end)
		return false;
	*out_range = ranges->ranges[i - 1];
	return true;
}

uint64_t frame_ranges_next_start(const struct frame_ranges *ranges, uint64_t address,
				 uint64_t limit)
{
	size_t i = count_up_to(ranges, address);

	if (i < ranges->count && ranges->ranges[i].start < limit)
		return ranges->ranges[i].start;
	return limit;
}

void frame_ranges_narrow(const struct frame_ranges *ranges, uint64_t address, uint64_t *low,
			 uint64_t *high)
{
	size_t i = count_up_to(ranges, address);

	if (i > 0 && ranges->ranges[i - 1].end > *low && ranges->ranges[i - 1].end <= address)
		*low = ranges->ranges[i - 1].end;
	*high = frame_ranges_next_start(ranges, address, *high);
}

void frame_ranges_done(struct frame_ranges *ranges)
{
	free(ranges->ranges);
}
