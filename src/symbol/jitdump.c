/*
 * Parses jitdumps: a JIT's binary, append-only record of its code
 * (tools/perf/Documentation/jitdump-specification.txt of Linux).  A header of at least 40
 * bytes, then records: id (4 bytes), size of the whole record (4), time (8), body.
 *   JIT_CODE_LOAD 0   pid, tid (4 each), vma, address, size, index (8 each), name, NUL, code
 *   JIT_CODE_MOVE 1   pid, tid (4 each), vma, old address, new address, size, index (8 each)
 * Records of other kinds are skipped; an incomplete last one ends the file.
 */
#include "module.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/notes.h"
#include "named_ranges.h"

#define JITDUMP_MAGIC       0x4a695444u /* "JiTD", in the writer's byte order */
#define JITDUMP_HEADER_LEN  40
#define JITDUMP_RECORD_HEAD 16

enum { JIT_CODE_LOAD, JIT_CODE_MOVE };

static void add_load(struct named_ranges *named, struct bytes b)
{
	bytes_u64(&b); /* pid, tid */
	bytes_u64(&b); /* vma */
	uint64_t address = bytes_u64(&b);
	uint64_t len = bytes_u64(&b);
	bytes_u64(&b); /* index */
	const char *name = bytes_string(&b);
	if (!b.short_read && *name)
		named_ranges_add(named, address, len, name, strlen(name));
}

/* The code at its new address keeps the name of the old one. */
static void add_move(struct named_ranges *named, struct bytes b)
{
	bytes_u64(&b); /* pid, tid */
	bytes_u64(&b); /* vma */
	uint64_t from = bytes_u64(&b);
	uint64_t to = bytes_u64(&b);
	uint64_t len = bytes_u64(&b);
	uint64_t number;

	if (!b.short_read && table_get(&named->by_start, 0, from, &number)) {
		const char *name = named->ranges[number].name;
		named_ranges_add(named, to, len, name, strlen(name));
	}
}

void *jitdump_source_new(const char *name, const void *data, size_t len, struct intern *strings,
			 struct notes *notes)
{
	struct named_ranges *named = xzalloc(sizeof *named);
	struct bytes b = bytes_of(data, len);

	named->strings = strings;
	uint32_t magic = bytes_u32(&b);
	bytes_u32(&b); /* version */
	uint32_t header_len = bytes_u32(&b);
	if (b.short_read || magic != JITDUMP_MAGIC || header_len < JITDUMP_HEADER_LEN) {
		if (notes)
			notes_add(notes,
				  "%s is no jitdump of this machine; its code has no names",
				  name);
		return named;
	}
	bytes_take(&b, header_len - 12);
	while (bytes_left(&b) >= JITDUMP_RECORD_HEAD) {
		uint32_t id = bytes_u32(&b);
		uint32_t record_len = bytes_u32(&b);
		bytes_u64(&b); /* time */
		if (record_len < JITDUMP_RECORD_HEAD)
			break;
		size_t body_len = record_len - JITDUMP_RECORD_HEAD;
		const void *body = bytes_take(&b, body_len);
		if (!body)
			break;
		if (id == JIT_CODE_LOAD)
			add_load(named, bytes_of(body, body_len));
		else if (id == JIT_CODE_MOVE)
			add_move(named, bytes_of(body, body_len));
	}
	range_map_finish(&named->by_address);
	return named;
}
