#include "remote/core_memory.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/read_at.h"
#include "base/regular_file.h"
#include "base/text.h"
#include "remote/memory.h"
#include "target/build_id.h"
#include "target/maps.h"

/* Enough for 65,530 mappings with paths of a thousand bytes; the excess is cut off. */
#define MOST_TEXT (64U << 20)
#define DELETED   " (deleted)"

struct core_backing {
	int fd; /* -1: not open */
	uint8_t fit;
	uint64_t size;
	uint64_t first; /* the address where the file's beginning is mapped */
	bool has_first;
};

/*
 * Copies the build id found through the ELF headers in the file's first page; 0: it has none.
 */
static size_t build_id_of_page(const uint8_t page[MEMORY_PAGE], uint8_t id[ELF_BUILD_ID_MAX])
{
	Elf64_Phdr header;
	Elf64_Ehdr head;

	memcpy(&head, page, sizeof head);
	if (head.e_phentsize != sizeof header || head.e_phoff > MEMORY_PAGE)
		return 0;
	for (size_t i = 0; i < head.e_phnum; i++) {
		const uint64_t at = head.e_phoff + i * sizeof header;
		size_t len;

		if (at > MEMORY_PAGE - sizeof header)
			return 0;
		memcpy(&header, page + at, sizeof header);
		if (header.p_type == PT_NOTE && header.p_offset < MEMORY_PAGE &&
		    header.p_filesz <= MEMORY_PAGE - header.p_offset &&
		    (len = elf_build_id_of_notes(page + header.p_offset, header.p_filesz,
						 header.p_align, id)) > 0)
			return len;
	}
	return 0;
}

static uint8_t compare(const struct core *core, const struct core_backing *backing)
{
	uint8_t ours[ELF_BUILD_ID_MAX], its[ELF_BUILD_ID_MAX];
	uint8_t page[MEMORY_PAGE], there[MEMORY_PAGE] = { 0 };
	size_t len;

	if (!read_at(backing->fd, there, SELFMAG, 0) || memcmp(there, ELFMAG, SELFMAG) != 0)
		return CORE_FIT_OTHER;
	if (!backing->has_first || !core_file_read_page(&core->file, backing->first, page))
		return CORE_FIT_ASSUMED;
	len = build_id_of_page(page, ours);
	if (len > 0)
		return elf_build_id_read_fd(backing->fd, its) == len &&
				       memcmp(ours, its, len) == 0
			       ? CORE_FIT_SAME
			       : CORE_FIT_OTHER;
	return read_at(backing->fd, there,
		       backing->size < MEMORY_PAGE ? backing->size : MEMORY_PAGE, 0) &&
			       memcmp(page, there, MEMORY_PAGE) == 0
		       ? CORE_FIT_SAME
		       : CORE_FIT_OTHER;
}

static char *path_of(const struct core *core, const struct core_mapping *mapping)
{
	const size_t len = strlen(mapping->path), end = strlen(DELETED);

	if (core->program && mapping->file == core->program_file)
		return xstrdup(core->program);
	/* The path may lead to another file by now; compare() detects that. */
	if (len > end && strcmp(mapping->path + len - end, DELETED) == 0)
		return xasprintf("%s%.*s", core->root, (int)(len - end), mapping->path);
	return xasprintf("%s%s", core->root, mapping->path);
}

static struct core_backing *backing_of(struct core *core, const struct core_mapping *mapping)
{
	struct core_backing *backing = &core->backings[mapping->file];
	struct stat about;

	if (backing->fit != CORE_FIT_UNKNOWN)
		return backing;
	CLEANUP(freep) char *path = path_of(core, mapping);

	backing->fd = regular_file_open(path, &about);
	if (backing->fd < 0) {
		backing->fd = -1;
		backing->fit = CORE_FIT_ABSENT;
		return backing;
	}
	backing->size = (uint64_t)about.st_size;
	backing->fit = compare(core, backing);
	if (backing->fit == CORE_FIT_OTHER)
		closep(&backing->fd);
	return backing;
}

bool core_fetch(void *context, uint64_t address, void *page, bool *out_is_lasting)
{
	struct core *core = context;
	const struct core_mapping *mapping;
	const struct core_segment *segment;
	uint64_t offset, left;

	*out_is_lasting = true;
	if (core_file_read_page(&core->file, address, page))
		return true;
	mapping = core_file_mapping(&core->file, address);
	segment = core_file_segment(&core->file, address);
	/*
	 * A truncated core lacks bytes that the program may have written: the file has not
	 * these.
	 */
	if (!mapping || (segment && address - segment->start < segment->file_size))
		return false;
	const struct core_backing *backing = backing_of(core, mapping);

	offset = mapping->file_offset + (address - mapping->start);
	if (backing->fd < 0 || offset >= backing->size)
		return false;
	left = backing->size - offset;
	memset(page, 0, MEMORY_PAGE);
	return read_at(backing->fd, page, left < MEMORY_PAGE ? (size_t)left : MEMORY_PAGE,
		       offset);
}

char *core_path_at(const struct core *core, uint64_t address)
{
	const struct core_mapping *mapping = core_file_mapping(&core->file, address);

	return mapping ? path_of(core, mapping) : NULL;
}

enum core_fit core_fit_at(struct core *core, uint64_t address)
{
	const struct core_mapping *mapping = core_file_mapping(&core->file, address);

	return mapping ? backing_of(core, mapping)->fit : CORE_FIT_ABSENT;
}

static void make_backings(struct core *core)
{
	const struct core_file *file = &core->file;
	const struct core_mapping *program;

	core->backing_count = file->paths.count + 1;
	core->backings = xzalloc((core->backing_count + 1) * sizeof *core->backings);
	for (size_t i = 0; i <= core->backing_count; i++)
		core->backings[i].fd = -1;
	for (size_t i = 0; i < file->mapping_count; i++) {
		const struct core_mapping *mapping = &file->mappings[i];
		struct core_backing *backing = &core->backings[mapping->file];

		if (mapping->file_offset == 0 && !backing->has_first) {
			backing->first = mapping->start;
			backing->has_first = true;
		}
	}
	program = core_file_mapping(file, file->program_headers);
	core->program_file = program ? program->file : file->mappings[0].file;
}

/*
 * A program given by the user must be the one in the core: with another, everything would be
 * wrong.
 */
static int check_program(struct core *core, struct error *err)
{
	const struct core_file *file = &core->file;

	for (size_t i = 0; core->program && i < file->mapping_count; i++) {
		const struct core_mapping *mapping = &file->mappings[i];

		if (mapping->file != core->program_file)
			continue;
		const enum core_fit fit = backing_of(core, mapping)->fit;

		if (fit == CORE_FIT_ABSENT)
			return error_set(err, -ENOENT, "%s: cannot be read", core->program);
		if (fit == CORE_FIT_OTHER)
			return error_set(err, -EINVAL,
					 "%s is not the program of %s: that was %s, of "
					 "another build",
					 core->program, core->path, mapping->path);
		return 0;
	}
	return 0;
}

int core_new(const char *path, const char *program, const char *root, struct core **out_core,
	     struct error *err)
{
	struct core *core = xzalloc(sizeof *core);
	int rc = core_file_open(path, &core->file, err);

	core->path = xstrdup(path);
	core->program = program ? xstrdup(program) : NULL;
	core->root = xstrdup(root ? root : "");
	if (rc == 0) {
		make_backings(core);
		rc = check_program(core, err);
	}
	if (rc < 0) {
		core_free(core);
		return rc;
	}
	*out_core = core;
	return 0;
}

void core_free(struct core *core)
{
	if (!core)
		return;
	for (size_t i = 0; core->backings && i <= core->backing_count; i++)
		closep(&core->backings[i].fd);
	free(core->backings);
	core_file_close(&core->file);
	free(core->path);
	free(core->program);
	free(core->root);
	free(core);
}

/* Writes one line as in /proc/PID/maps; a newline in a path is escaped as the kernel does. */
static void add_line(struct text *out, const struct core_segment *segment, uint64_t start,
		     uint64_t end, uint64_t offset, const char *path)
{
	text_addf(out, "%" PRIx64 "-%" PRIx64 " %c%c%cp %" PRIx64 " 00:00 %d ", start, end,
		  !segment || segment->is_readable ? 'r' : '-',
		  segment && segment->is_writable ? 'w' : '-',
		  !segment || segment->is_executable ? 'x' : '-', offset, *path == '/');
	for (; *path != '\0'; path++) {
		if (*path == '\n')
			text_add(out, "\\012");
		else
			text_add_bytes(out, path, 1);
	}
	text_add(out, "\n");
}

static void add_segment(const struct core *core, const struct core_segment *segment,
			struct text *out)
{
	const struct core_mapping *mapping = core_file_mapping(&core->file, segment->start);
	const char *path = "";
	uint64_t offset = 0;

	if (mapping) {
		path = mapping->path;
		offset = mapping->file_offset + (segment->start - mapping->start);
	} else if (segment->start == core->file.vdso) {
		path = "[vdso]";
	}
	add_line(out, segment, segment->start, segment->end, offset, path);
}

struct maps *core_maps(const struct core *core)
{
	const struct core_file *file = &core->file;
	CLEANUP(text_done) struct text text = { 0 };
	size_t next = 0;

	for (size_t i = 0; i < file->segment_count && text.len < MOST_TEXT; i++) {
		for (; next < file->mapping_count &&
		       file->mappings[next].start < file->segments[i].start;
		     next++) {
			const struct core_mapping *m = &file->mappings[next];

			if (!core_file_segment(file, m->start))
				add_line(&text, NULL, m->start, m->end, m->file_offset,
					 m->path);
		}
		add_segment(core, &file->segments[i], &text);
	}
	return maps_parse(text_string(&text), text.len);
}
