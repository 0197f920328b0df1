#include "elf_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/regular_file.h"
#include "debug_size.h"

/* The largest debug files, of browsers, have some gigabytes. */
#define FILE_SIZE_MAX     (INT64_C(16) << 30)
#define SEGMENT_PAGE_SIZE 4096u
/* Linkers make four or five; each adds to the time of a lookup. */
#define SEGMENTS_MAX 256

static void read_build_id(struct elf_image *image)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		Elf_Data *data = elf_rawdata(section, NULL);
		if (!data || !data->d_buf)
			continue;
		image->build_id_len = elf_build_id_of_notes(
			data->d_buf, data->d_size, header.sh_addralign, image->build_id);
		if (image->build_id_len > 0)
			return;
	}
	if (image->fd >= 0)
		image->build_id_len = elf_build_id_read_fd(image->fd, image->build_id);
}

static void read_segments(struct elf_image *image)
{
	size_t count;

	if (elf_getphdrnum(image->elf, &count) != 0)
		return;
	image->segments = xreallocarray(NULL, SEGMENTS_MAX, sizeof *image->segments);
	for (size_t i = 0; i < count && image->segment_count < SEGMENTS_MAX; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(image->elf, (int)i, &header))
			return;
		if (header.p_type != PT_LOAD)
			continue;
		image->segments[image->segment_count++] = (struct elf_segment){
			.address = header.p_vaddr,
			.offset = header.p_offset,
			.file_len = header.p_filesz,
			.flags = header.p_flags,
		};
	}
}

/* Wine maps Windows' programs and libraries. */
static bool is_of_windows(const struct elf_image *image)
{
	size_t len = 0;
	const char *bytes = image->elf ? elf_rawfile(image->elf, &len) : NULL;

	return bytes && len > 1 && bytes[0] == 'M' && bytes[1] == 'Z';
}

static int check_elf(struct elf_image *image, struct error *err)
{
	if (is_of_windows(image))
		return error_set(
			err, -EMEDIUMTYPE,
			"functions of Windows programs and libraries (PE files) have no "
			"names, and stacks are cut there");
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF ||
	    !gelf_getehdr(image->elf, &image->header))
		return error_set(err, -ENOEXEC, "%s: not an ELF file, or a damaged one",
				 image->path);
	read_segments(image);
	read_build_id(image);
	return 0;
}

static int open_regular(const char *path, size_t *out_len, struct error *err)
{
	struct stat st;

	int fd = regular_file_open(path, &st);

	if (fd == -EINVAL)
		return error_set(err, fd, "%s: not a regular file", path);
	if (fd < 0)
		return error_errno(err, fd, "cannot open %s", path);
	if (st.st_size <= FILE_SIZE_MAX) {
		*out_len = (size_t)st.st_size;
		return fd;
	}
	close(fd);
	return error_set(err, -EFBIG, "%s: too large", path);
}

static struct elf_image *new_image(const char *path)
{
	struct elf_image *image = xzalloc(sizeof *image);

	elf_version(EV_CURRENT);
	image->fd = -1;
	image->path = xstrdup(path);
	return image;
}

static int finish_open(struct elf_image *image, struct elf_image **out_image, struct error *err)
{
	int rc = check_elf(image, err);

	if (rc < 0)
		elf_image_free(image);
	else
		*out_image = image;
	return rc;
}

int elf_image_open(const char *path, struct elf_image **out_image, struct error *err)
{
	size_t len = 0;
	int fd = open_regular(path, &len, err);

	if (fd < 0)
		return fd;
	struct elf_image *image = new_image(path);
	image->fd = fd;
	image->file_len = len;
	image->elf = elf_begin(fd, ELF_C_READ, NULL);
	return finish_open(image, out_image, err);
}

int elf_image_open_memory(const char *name, const void *bytes, size_t len,
			  struct elf_image **out_image, struct error *err)
{
	struct elf_image *image = new_image(name);

	image->file_len = len;
	/* libelf takes a char *, but does not write through it unless requested. */
	image->elf = elf_memory((char *)(uintptr_t)bytes, len);
	return finish_open(image, out_image, err);
}

int elf_image_open_owned(const char *name, void *bytes, size_t len,
			 struct elf_image **out_image, struct error *err)
{
	struct elf_image *image = new_image(name);

	image->owned = bytes;
	image->file_len = len;
	image->elf = elf_memory(bytes, len);
	return finish_open(image, out_image, err);
}

void elf_image_close_file(struct elf_image *image)
{
	if (!image || image->fd < 0)
		return;
	elf_cntl(image->elf, ELF_C_FDDONE);
	close(image->fd);
	image->fd = -1;
}

void elf_image_free(struct elf_image *image)
{
	if (!image)
		return;
	elf_image_close_file(image);
	elf_end(image->elf);
	free(image->segments);
	free(image->owned);
	free(image->path);
	free(image);
}

static const char *section_name(const struct elf_image *image, const GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(image->elf, &names) != 0)
		return NULL;
	return elf_strptr(image->elf, names, header->sh_name);
}

Elf_Scn *elf_image_section(const struct elf_image *image, const char *name,
			   GElf_Shdr *out_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->elf, section))) {
		if (!gelf_getshdr(section, out_header))
			continue;
		const char *its_name = section_name(image, out_header);
		if (its_name && strcmp(its_name, name) == 0)
			return section;
	}
	return NULL;
}

Elf_Scn *elf_image_section_of_type(const struct elf_image *image, uint32_t type,
				   GElf_Shdr *out_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->elf, section)))
		if (gelf_getshdr(section, out_header) && out_header->sh_type == type)
			return section;
	return NULL;
}

const void *elf_image_section_bytes(const struct elf_image *image, const char *name,
				    size_t *out_len)
{
	GElf_Shdr header;
	GElf_Chdr compressed;
	Elf_Scn *section = elf_image_section(image, name, &header);

	if (!section || header.sh_type == SHT_NOBITS)
		return NULL;
	if (header.sh_flags & SHF_COMPRESSED) {
		if (!gelf_getchdr(section, &compressed) ||
		    !debug_size_is_bearable(compressed.ch_size, image->file_len) ||
		    elf_compress(section, 0, 0) < 0)
			return NULL;
	}
	Elf_Data *data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return NULL;
	*out_len = data->d_size;
	return data->d_buf;
}

static bool segment_covers(const struct elf_segment *segment, uint64_t file_offset,
			   uint64_t slack)
{
	uint64_t start = segment->offset - segment->offset % slack;
	uint64_t end;

	if (__builtin_add_overflow(segment->offset, segment->file_len, &end) ||
	    __builtin_add_overflow(end, (slack - end % slack) % slack, &end))
		return false;
	return file_offset >= start && file_offset < end;
}

/*
 * The kernel maps whole pages, so a byte of the file can be mapped by two segments: prefer the
 * one whose own range includes it, and code.
 */
bool elf_image_address(const struct elf_image *image, uint64_t file_offset,
		       uint64_t *out_address)
{
	static const struct {
		uint64_t slack;
		uint32_t flags;
	} passes[] = { { 1, PF_X }, { SEGMENT_PAGE_SIZE, PF_X }, { 1, 0 } };

	for (size_t pass = 0; pass < sizeof passes / sizeof passes[0]; pass++) {
		for (size_t i = 0; i < image->segment_count; i++) {
			const struct elf_segment *segment = &image->segments[i];
			if ((segment->flags & passes[pass].flags) != passes[pass].flags ||
			    !segment_covers(segment, file_offset, passes[pass].slack))
				continue;
			*out_address = segment->address + (file_offset - segment->offset);
			return true;
		}
	}
	return false;
}

/* The size in an older ".zdebug_…" section: "ZLIB", then the size, big-endian. */
static uint64_t size_of_older_form(Elf_Scn *section)
{
	const Elf_Data *data = elf_rawdata(section, NULL);
	const uint8_t *bytes = data ? data->d_buf : NULL;
	uint64_t size = 0;

	if (!bytes || data->d_size < 12 || memcmp(bytes, "ZLIB", 4) != 0)
		return 0;
	for (int i = 4; i < 12; i++)
		size = size << 8 | bytes[i];
	return size;
}

static uint64_t size_of_section(const struct elf_image *image, Elf_Scn *section)
{
	GElf_Shdr header;
	GElf_Chdr compressed;
	size_t names;

	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
		return 0;
	if (header.sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &compressed) ? compressed.ch_size : 0;
	const char *name = elf_getshdrstrndx(image->elf, &names) == 0
				   ? elf_strptr(image->elf, names, header.sh_name)
				   : NULL;

	return name && strncmp(name, ".zdebug", 7) == 0 ? size_of_older_form(section) : 0;
}

uint64_t elf_image_unpacked_size(const struct elf_image *image)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;

	while ((section = elf_nextscn(image->elf, section)))
		if (__builtin_add_overflow(sum, size_of_section(image, section), &sum))
			return UINT64_MAX;
	return sum;
}
