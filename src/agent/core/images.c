#include "agent/core/images.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/image_records.h"
#include "agent/core/memory.h"
#include "agent/core/program_start.h"
#include "walk/native.h"

#define MAX_PROGRAM_HEADERS 64
#define LASTING_MAX         256U

find_object_function *images_find_object AGENT_STATE;

/*
 * The images that the program was started with: the dynamic linker never unloads them, since the
 * program itself needs them (elf/dl-close.c).  Beyond LASTING_MAX, images are copied as they are
 * read.
 */
static struct {
	u32 count;
	struct {
		const struct link_map *image;
		const ElfW(Phdr) * headers; /* the linker's; NULL: not known */
		u32 header_count;
	} images[LASTING_MAX];
} lasting AGENT_STATE;

/*
 * Notes the linker's address of an image's program headers: no segment may contain them, or they
 * may be far into the file (BOLT puts them behind the code).
 */
AGENT_START static int note_headers(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	for (u32 i = 0; i < lasting.count; i++) {
		const struct link_map *image = lasting.images[i].image;

		if (image->l_addr == info->dlpi_addr && image->l_name == info->dlpi_name) {
			lasting.images[i].headers = info->dlpi_phdr;
			lasting.images[i].header_count = info->dlpi_phnum;
		}
	}
	return 0;
}

/* The linker itself was loaded at the start, and so was every image before it in its list. */
static bool is_linker(const struct link_map *image)
{
	return image->l_addr == _r_debug.r_ldbase;
}

AGENT_START void images_begin(bool is_attached)
{
	const struct link_map *image = _r_debug.r_map;

	/* Without RTLD_NEXT it may be the agent's own (trace/native/jumps.c). */
	*(void **)&images_find_object = dlsym(RTLD_NEXT, "_dl_find_object");
	lasting.count = 0;
	for (; image != NULL && lasting.count < LASTING_MAX; image = image->l_next) {
		lasting.images[lasting.count].headers = NULL;
		lasting.images[lasting.count++].image = image;
		if (is_attached && is_linker(image))
			break;
	}
	dl_iterate_phdr(note_headers, NULL);
}

/* LASTING_MAX: the image is none of these. */
static u32 lasting_index(const struct link_map *image)
{
	for (u32 i = 0; i < lasting.count; i++) {
		if (lasting.images[i].image == image)
			return i;
	}
	return LASTING_MAX;
}

bool images_is_lasting(const struct link_map *image)
{
	return lasting_index(image) != LASTING_MAX;
}

const struct link_map *images_at(const void *address)
{
	struct dl_find_object found;

	if (images_find_object == NULL || images_find_object((void *)address, &found) != 0)
		return NULL;
	return found.dlfo_link_map;
}

static bool is_elf_header(const ElfW(Ehdr) * header)
{
	return __builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_phoff <= MEMORY_PAGE &&
	       header->e_phnum * sizeof(ElfW(Phdr)) <= MEMORY_PAGE - header->e_phoff;
}

/*
 * Finds an image's program headers.  The program's are those that the kernel passed.  For images
 * that were loaded when it began, the linker's are used.  Else they are read in the image's
 * first page: where _dl_find_object() has the image begin, or, if the image has gaps and that is
 * only the beginning of a segment, at its load bias.
 */
bool images_find_headers(const struct dl_find_object *found, struct images_headers *out)
{
	const ElfW(Ehdr) *header = found->dlfo_map_start;
	const u32 index = lasting_index(found->dlfo_link_map);

	out->bias = (u64)found->dlfo_link_map->l_addr;
	if (found->dlfo_link_map->l_name[0] == '\0' && program_start.headers != NULL) {
		out->headers = program_start.headers;
		out->count = program_start.header_count;
		return true;
	}
	if (index != LASTING_MAX && lasting.images[index].headers != NULL) {
		out->headers = lasting.images[index].headers;
		out->count = lasting.images[index].header_count;
		return true;
	}
	if (!is_elf_header(header)) {
		header = (const void *)out->bias;
		if (!permits.may_call || !memory_probe(out->bias) || !is_elf_header(header))
			return false;
	}
	out->headers = (const void *)((const char *)header + header->e_phoff);
	out->count = header->e_phnum;
	return true;
}

/* Measures the image, its unwind table, and the segment around it, where rules are read. */
static bool image_measure(const struct images_headers *segments, struct mem *mem,
			  struct native_image *image)
{
	u64 table = 0;

	image->start = UINT64_MAX;
	for (u32 i = 0; i < segments->count && i < MAX_PROGRAM_HEADERS; i++) {
		const ElfW(Phdr) *segment = &segments->headers[i];
		const u64 low = segments->bias + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME) {
			table = low;
			image->eh_frame_hdr_len = segment->p_memsz;
		}
		if (segment->p_type != PT_LOAD)
			continue;
		image->start = low < image->start ? low : image->start;
		if (low + segment->p_memsz > image->end)
			image->end = low + segment->p_memsz;
	}
	image->eh_frame_hdr = table;
	for (u32 i = 0; i < segments->count && i < MAX_PROGRAM_HEADERS; i++) {
		const ElfW(Phdr) *segment = &segments->headers[i];
		const u64 low = segments->bias + segment->p_vaddr;

		if (segment->p_type == PT_LOAD &&
		    memory_covers(low, low + segment->p_filesz, table, 1)) {
			mem->image_low = low;
			mem->image_high = low + segment->p_filesz;
			return true;
		}
	}
	return false;
}

static void image_report(const struct native_image *image, u64 bias, const char *path)
{
	if (image_records_are_wanted())
		image_records_send(own_ring.header, &(struct image_place){
							    .start = image->start,
							    .end = image->end,
							    .load_bias = bias,
							    .path = path,
						    });
}

static bool image_find_lasting(const struct dl_find_object *found, struct mem *mem,
			       struct native_image *out_image)
{
	struct images_headers segments;

	if (!images_find_headers(found, &segments) || !image_measure(&segments, mem, out_image))
		return false;
	image_report(out_image, segments.bias, found->dlfo_link_map->l_name);
	return true;
}

/* The linker's record of an image begins with these (link.h, struct link_map). */
struct image_record {
	u64 bias;
	u64 name;
};

static void image_find_passing(const struct dl_find_object *found, struct mem *mem,
			       struct native_image *out_image)
{
	const u64 table = (u64)found->dlfo_eh_frame;
	struct image_record record;

	*out_image = (struct native_image){
		.start = (u64)found->dlfo_map_start,
		.end = (u64)found->dlfo_map_end,
	};
	/* An image of assembler code alone has no table. */
	if (memory_covers(out_image->start, out_image->end, table, 1)) {
		out_image->eh_frame_hdr = table;
		out_image->eh_frame_hdr_len = out_image->end - table;
	}
	mem->image_low = mem->image_high = 0;
	if (image_records_are_wanted() &&
	    mem_read(mem, &record, sizeof record, (u64)found->dlfo_link_map) == 0)
		image_report(out_image, record.bias, memory_read_text(mem, record.name));
}

bool image_is_at(u64 address, u64 load_bias, struct mem *mem)
{
	struct dl_find_object found;
	struct image_record record;

	if (images_find_object == NULL || images_find_object((void *)address, &found) != 0)
		return false;
	if (images_is_lasting(found.dlfo_link_map))
		return found.dlfo_link_map->l_addr == load_bias;
	return mem_read(mem, &record, sizeof record, (u64)found.dlfo_link_map) == 0 &&
	       record.bias == load_bias;
}

bool image_find(u64 address, bool is_running, struct mem *mem, struct native_image *out_image)
{
	struct dl_find_object found;

	*out_image = (struct native_image){ 0 };
	if (images_find_object == NULL || images_find_object((void *)address, &found) != 0)
		return false;
	if ((!is_running && !images_is_lasting(found.dlfo_link_map)) ||
	    !image_find_lasting(&found, mem, out_image))
		image_find_passing(&found, mem, out_image);
	return true;
}

/* glibc has turned these offsets into addresses in images that it relocates: not in the vDSO. */
static u64 address_of(const struct dl_phdr_info *info, u64 value)
{
	return value < info->dlpi_addr ? value + info->dlpi_addr : value;
}

static void read_entry(const struct dl_phdr_info *info, const ElfW(Dyn) * entry,
		       struct images_tables *tables)
{
	const u64 address = address_of(info, entry->d_un.d_ptr);

	switch (entry->d_tag) {
	case DT_SYMTAB:
		tables->symbols = (const void *)address;
		break;
	case DT_STRTAB:
		tables->names = (const void *)address;
		break;
	case DT_GNU_HASH:
		tables->gnu_hash = (const void *)address;
		break;
	case DT_RELA:
		tables->relocations[0] = (const void *)address;
		break;
	case DT_RELASZ:
		tables->counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
		break;
	case DT_JMPREL:
		tables->relocations[1] = (const void *)address;
		break;
	case DT_PLTRELSZ:
		tables->counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
		break;
	default:
		break;
	}
}

bool images_read_tables(const struct dl_phdr_info *info, struct images_tables *tables)
{
	const ElfW(Dyn) *dynamic = NULL;

	*tables = (struct images_tables){ .bias = info->dlpi_addr };
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const u64 start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_DYNAMIC)
			dynamic = (const void *)start;
		if (segment->p_type == PT_GNU_RELRO) {
			tables->fixed = start & ~(MEMORY_PAGE - 1);
			tables->fixed_end = (start + segment->p_memsz) & ~(MEMORY_PAGE - 1);
		}
	}
	for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++)
		read_entry(info, dynamic, tables);
	return tables->symbols != NULL && tables->names != NULL;
}

enum images_want images_wanted(const struct dl_phdr_info *info, const char *name)
{
	struct images_tables tables;

	if (!images_read_tables(info, &tables) || tables.gnu_hash == NULL)
		return IMAGES_UNKNOWN;
	/* symoffset: the index of the first symbol that the image defines itself. */
	const u32 wanted = tables.gnu_hash[1];

	for (u32 i = 1; i < wanted; i++) {
		if (tables.symbols[i].st_shndx == SHN_UNDEF &&
		    strcmp(tables.names + tables.symbols[i].st_name, name) == 0)
			return IMAGES_WANTED;
	}
	return wanted != 0 ? IMAGES_NOT_WANTED : IMAGES_UNKNOWN;
}
