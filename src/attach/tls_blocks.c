#include "attach/tls_blocks.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach/library.h"
#include "attach/peek.h"
#include "base/error.h"
#include "base/memory.h"
#include "target/maps.h"

#define READS_MAX      5
#define LISTS_MAX      64
#define MODULES_MAX    4096
#define SEGMENTS_MAX   64
#define OFFSET_MAX     (64ULL << 20)
#define IMAGE_MAX      (4ULL << 20)
#define MODULES_SPARE  64
#define VECTOR_ENTRY   16
#define NOT_STATIC     0ULL    /* NO_TLS_OFFSET */
#define FORCED_DYNAMIC (~0ULL) /* FORCED_DYNAMIC_TLS_OFFSET */
#define UNALLOCATED    (~0ULL) /* TLS_DTV_UNALLOCATED */

/* Offsets of the dynamic linker's fields. */
struct layout {
	uint32_t first_list; /* in _rtld_global */
	uint32_t list_length, list_next, list_slots, slot_bytes;
	uint32_t slot_generation, slot_map;
	uint32_t map_offset, map_number;
};

struct reading {
	const struct library *libc;
	const struct maps *maps;
	struct layout layout;
	uint64_t linker_state; /* _rtld_global */
};

/* Reads a descriptor of nptl_db: the field's size in bits, count, and offset. */
static bool read_field(const struct library *libc, const char *name, uint32_t *out_offset)
{
	const uint64_t address = library_symbol(libc, name);
	uint32_t field[3];

	if (address == 0 || peek(libc->pid, address, field, sizeof field) < 0 ||
	    field[2] > UINT16_MAX)
		return false;
	*out_offset = field[2];
	return true;
}

static bool read_layout(const struct library *libc, struct layout *out_layout)
{
	const struct {
		const char *name;
		uint32_t *place;
	} fields[] = {
		{ "_thread_db_rtld_global__dl_tls_dtv_slotinfo_list", &out_layout->first_list },
		{ "_thread_db_dtv_slotinfo_list_len", &out_layout->list_length },
		{ "_thread_db_dtv_slotinfo_list_next", &out_layout->list_next },
		{ "_thread_db_dtv_slotinfo_list_slotinfo", &out_layout->list_slots },
		{ "_thread_db_dtv_slotinfo_gen", &out_layout->slot_generation },
		{ "_thread_db_dtv_slotinfo_map", &out_layout->slot_map },
		{ "_thread_db_link_map_l_tls_offset", &out_layout->map_offset },
		{ "_thread_db_link_map_l_tls_modid", &out_layout->map_number },
	};
	const uint64_t size = library_symbol(libc, "_thread_db_sizeof_dtv_slotinfo");

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (!read_field(libc, fields[i].name, fields[i].place))
			return false;
	return size != 0 &&
	       peek(libc->pid, size, &out_layout->slot_bytes, sizeof(uint32_t)) == 0 &&
	       out_layout->slot_bytes >= sizeof(uint64_t) && out_layout->slot_bytes <= 64;
}

static bool read_word(const struct reading *reading, uint64_t address, uint64_t *out_word)
{
	return peek(reading->libc->pid, address, out_word, sizeof *out_word) == 0;
}

/* Adds a module's block, if it is in static TLS; false: the list is being changed. */
static bool add_module(const struct reading *reading, uint64_t number, uint64_t slot,
		       struct tls_blocks *blocks)
{
	const struct layout *layout = &reading->layout;
	struct tls_block block = { .number = number };
	uint64_t stored;

	if (!read_word(reading, slot + layout->slot_map, &block.map) ||
	    !read_word(reading, slot + layout->slot_generation, &block.generation))
		return false;
	if (block.map == 0)
		return true;
	if (!read_word(reading, block.map + layout->map_offset, &block.offset) ||
	    !read_word(reading, block.map + layout->map_number, &stored) || stored != number)
		return false;
	blocks->last_number = number;
	if (block.generation > blocks->generation)
		blocks->generation = block.generation;
	if (block.offset == NOT_STATIC || block.offset == FORCED_DYNAMIC)
		return true;
	if (block.offset > OFFSET_MAX)
		return false;
	blocks->blocks[blocks->count++] = block;
	return true;
}

static bool list_modules(const struct reading *reading, struct tls_blocks *out_blocks)
{
	const struct layout *layout = &reading->layout;
	uint64_t list, length, first = 0;

	*out_blocks = (struct tls_blocks){ .blocks = xzalloc(MODULES_MAX *
							     sizeof(struct tls_block)) };
	if (!read_word(reading, reading->linker_state + layout->first_list, &list))
		return false;
	for (int i = 0; list != 0 && i < LISTS_MAX; i++) {
		if (!read_word(reading, list + layout->list_length, &length) ||
		    length > MODULES_MAX - first)
			return false;
		/* Module numbers start at 1, whatever slot 0 holds. */
		for (uint64_t at = first == 0; at < length; at++)
			if (!add_module(reading, first + at,
					list + layout->list_slots + at * layout->slot_bytes,
					out_blocks))
				return false;
		first += length;
		if (!read_word(reading, list + layout->list_next, &list))
			return false;
	}
	return list == 0;
}

/* The address of the file's first byte, for the image with this dynamic section; 0: not found. */
static uint64_t find_header(const struct maps *maps, uint64_t dynamic)
{
	const struct mapping *there = maps_find(maps, dynamic);
	uint64_t found = 0;

	for (size_t i = 0; there != NULL && there->inode != 0 && i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);

		if (mapping->start <= dynamic && mapping->file_offset == 0 &&
		    mapping->inode == there->inode &&
		    mapping->device_major == there->device_major &&
		    mapping->device_minor == there->device_minor)
			found = mapping->start;
	}
	return found;
}

static bool find_segment(pid_t pid, uint64_t start, Elf64_Phdr *out_segment)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	Elf64_Ehdr header;

	if (start == 0 || peek(pid, start, &header, sizeof header) < 0 ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_phentsize != sizeof segments[0] || header.e_phnum > SEGMENTS_MAX ||
	    peek(pid, start + header.e_phoff, segments, header.e_phnum * sizeof segments[0]) <
		    0)
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		*out_segment = segments[i];
		if (out_segment->p_type == PT_TLS)
			return true;
	}
	return false;
}

/* Reads the initial values from memory, where addresses in them have been relocated. */
static bool read_image(const struct reading *reading, struct tls_block *block)
{
	const pid_t pid = reading->libc->pid;
	struct link_map map;
	Elf64_Phdr segment;

	if (peek(pid, block->map, &map, sizeof map) < 0 ||
	    !find_segment(pid, find_header(reading->maps, (uintptr_t)map.l_ld), &segment) ||
	    segment.p_filesz > segment.p_memsz || segment.p_memsz > block->offset ||
	    segment.p_filesz > IMAGE_MAX)
		return false;
	block->bytes = segment.p_memsz;
	block->image_bytes = segment.p_filesz;
	block->image = xzalloc(segment.p_filesz + 1);
	return segment.p_filesz == 0 ||
	       peek(pid, map.l_addr + segment.p_vaddr, block->image, segment.p_filesz) == 0;
}

static bool do_overlap(const struct tls_block *one, const struct tls_block *other)
{
	/* Blocks extend from -offset towards the thread pointer. */
	return one->offset > other->offset - other->bytes &&
	       other->offset > one->offset - one->bytes;
}

static bool are_apart(const struct tls_blocks *blocks)
{
	for (size_t i = 0; i < blocks->count; i++)
		for (size_t j = 0; j < i; j++)
			if (do_overlap(&blocks->blocks[i], &blocks->blocks[j]))
				return false;
	return true;
}

static bool is_as_before(const struct reading *reading, const struct tls_blocks *before)
{
	struct tls_blocks now;
	bool is_same = list_modules(reading, &now) && now.count == before->count &&
		       now.generation == before->generation &&
		       now.last_number == before->last_number;

	for (size_t i = 0; is_same && i < now.count; i++)
		is_same = now.blocks[i].map == before->blocks[i].map &&
			  now.blocks[i].number == before->blocks[i].number &&
			  now.blocks[i].offset == before->blocks[i].offset;
	tls_blocks_free(&now);
	return is_same;
}

static bool read_once(const struct reading *reading, struct tls_blocks *out_blocks)
{
	if (!list_modules(reading, out_blocks))
		return false;
	for (size_t i = 0; i < out_blocks->count; i++)
		if (!read_image(reading, &out_blocks->blocks[i]))
			return false;
	return are_apart(out_blocks) && is_as_before(reading, out_blocks);
}

int tls_blocks_read(const struct library *libc, const struct library *linker,
		    const struct maps *maps, struct tls_blocks *out_blocks, struct error *err)
{
	struct reading reading = { .libc = libc, .maps = maps };

	*out_blocks = (struct tls_blocks){ 0 };
	reading.linker_state = library_symbol(linker, "_rtld_global");
	if (reading.linker_state == 0 || !read_layout(libc, &reading.layout))
		return error_set(err, -ENOTSUP, "its dynamic linker is of an unknown kind");
	for (int i = 0; i < READS_MAX; i++) {
		tls_blocks_free(out_blocks);
		if (read_once(&reading, out_blocks))
			return 0;
	}
	return error_set(err, -ENOTSUP,
			 "its thread-local variables cannot be read; if it is loading "
			 "libraries now, try again");
}

void tls_blocks_free(struct tls_blocks *blocks)
{
	for (size_t i = 0; i < blocks->count; i++)
		free(blocks->blocks[i].image);
	free(blocks->blocks);
	*blocks = (struct tls_blocks){ 0 };
}

uint64_t tls_blocks_below(const struct tls_blocks *blocks)
{
	uint64_t most = 0;

	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->blocks[i].offset > most)
			most = blocks->blocks[i].offset;
	return most;
}

static uint64_t vector_entries(const struct tls_blocks *blocks)
{
	return blocks->last_number + MODULES_SPARE;
}

size_t tls_blocks_vector_bytes(const struct tls_blocks *blocks)
{
	/* The length, the generation, and entries from module 1 on. */
	return (size_t)(vector_entries(blocks) + 2) * VECTOR_ENTRY;
}

void tls_blocks_write_vector(const struct tls_blocks *blocks, uint64_t thread_pointer,
			     void *out_vector)
{
	uint64_t *words = out_vector;

	memset(words, 0, tls_blocks_vector_bytes(blocks));
	words[0] = vector_entries(blocks);
	words[2] = blocks->generation;
	for (uint64_t number = 1; number <= vector_entries(blocks); number++)
		words[2 * (number + 1)] = UNALLOCATED;
	for (size_t i = 0; i < blocks->count; i++)
		words[2 * (blocks->blocks[i].number + 1)] =
			thread_pointer - blocks->blocks[i].offset;
}
