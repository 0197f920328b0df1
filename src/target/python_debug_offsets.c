#include "python_debug_offsets.h"

#include <string.h>

#include "base/bytes.h"
#include "elf_file.h"

#define COOKIE "xdebugpy"
/* The largest so far, that of 3.15, has 888 bytes. */
#define STRUCT_MAX 4096u

/*
 * Maximum plausible offsets, by struct: a few times today's. All are of pointers or integers of
 * at least four bytes, except frame_owner, a char.
 */
#define STATE_MAX  4096u
#define INTERP_MAX 0xfff0u
#define FRAME_MAX  256u
#define CODE_MAX   1024u
#define OBJECT_MAX 256u

static const struct {
	const char *prefix;
	u16 max;
} limits[] = {
	{ "state_", STATE_MAX }, { "interp_", INTERP_MAX }, { "frame_", FRAME_MAX },
	{ "code_", CODE_MAX },   { "", OBJECT_MAX },
};

static const char *const names[] = {
#define NAME(name) #name,
	PYTHON_OFFSET_MAP(NAME)
#undef NAME
};
#define FIELD_COUNT (sizeof names / sizeof names[0])
_Static_assert(FIELD_COUNT * sizeof(u16) == sizeof(struct python_offsets),
	       "the offsets are an array of u16");

bool python_debug_identify(const struct elf_file *elf, uint64_t runtime,
			   struct python_debug_identity *out_identity)
{
	uint8_t head[24];

	if (!elf_file_read(elf, runtime, head, sizeof head) ||
	    memcmp(head, COOKIE, strlen(COOKIE)) != 0)
		return false;

	struct bytes b = bytes_of(head + strlen(COOKIE), sizeof head - strlen(COOKIE));
	uint64_t version = bytes_u64(&b), free_threaded = bytes_u64(&b);

	*out_identity = (struct python_debug_identity){ (uint32_t)version, free_threaded == 1 };
	return version <= UINT32_MAX && free_threaded <= 1;
}

static bool makes_sense(const char *name, uint64_t offset)
{
	size_t i = 0;

	while (strncmp(name, limits[i].prefix, strlen(limits[i].prefix)) != 0)
		i++;
	return offset <= limits[i].max &&
	       (offset % 4 == 0 || strcmp(name, "frame_owner") == 0 ||
		strcmp(name, "bytes_data") == 0);
}

const char *python_debug_offsets_read(const struct elf_file *elf, uint64_t runtime,
				      const struct python_row *row,
				      struct python_offsets *offsets)
{
	uint8_t data[STRUCT_MAX];
	u16 places[FIELD_COUNT], values[FIELD_COUNT];
	u16 ascii = offsets->text_ascii;

	if (row->debug_head.size > sizeof data ||
	    !elf_file_read(elf, runtime, data, row->debug_head.size))
		return names[0];
	memcpy(places, &row->debug, sizeof places);
	memcpy(values, offsets, sizeof values);
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		/* The value is 0 where the build lacks the field. */
		if (places[i] == PYTHON_NO_FIELD || values[i] == PYTHON_NO_FIELD)
			continue;
		if (places[i] + sizeof(uint64_t) > row->debug_head.size)
			return names[i];
		struct bytes b = bytes_of(data + places[i], sizeof(uint64_t));
		uint64_t offset = bytes_u64(&b);
		if (!makes_sense(names[i], offset))
			return names[i];
		values[i] = (u16)offset;
	}
	memcpy(offsets, values, sizeof *offsets);
	/*
	 * The struct does not have this offset; a compact string is the ASCII one plus two
	 * words.
	 */
	offsets->text_compact = (u16)(offsets->text_compact + offsets->text_ascii - ascii);
	return NULL;
}
