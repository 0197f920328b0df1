#include "debug_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "elf_image.h"

#define DEBUG_ROOT     "/usr/lib/debug"
#define READ_SIZE      (256u << 10)
#define CRC_POLYNOMIAL 0xedb88320u
#define CRC_SLICES     8

/* tables[k][byte]: the effect of byte on the checksum when k zero bytes follow it. */
struct crc_tables {
	uint32_t tables[CRC_SLICES][256];
};

static void make_crc_tables(struct crc_tables *crc)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t value = byte;
		for (int bit = 0; bit < 8; bit++)
			value = (value >> 1) ^ (value & 1 ? CRC_POLYNOMIAL : 0);
		crc->tables[0][byte] = value;
	}
	for (int slice = 1; slice < CRC_SLICES; slice++) {
		for (uint32_t byte = 0; byte < 256; byte++) {
			uint32_t before = crc->tables[slice - 1][byte];
			crc->tables[slice][byte] =
				(before >> 8) ^ crc->tables[0][before & 0xff];
		}
	}
}

static uint32_t crc_add(const struct crc_tables *crc, uint32_t value, const uint8_t *at,
			size_t len)
{
	value = ~value;
	for (; len >= CRC_SLICES; len -= CRC_SLICES, at += CRC_SLICES) {
		uint32_t next = 0;
		for (int i = 0; i < CRC_SLICES; i++) {
			uint8_t byte = at[i];
			if (i < 4)
				byte ^= (uint8_t)(value >> (8 * i));
			next ^= crc->tables[CRC_SLICES - 1 - i][byte];
		}
		value = next;
	}
	for (; len > 0; len--, at++)
		value = (value >> 8) ^ crc->tables[0][(value ^ *at) & 0xff];
	return ~value;
}

uint32_t debug_link_crc(uint32_t crc, const void *data, size_t len)
{
	struct crc_tables tables;

	make_crc_tables(&tables);
	return crc_add(&tables, crc, data, len);
}

static bool has_checksum(const struct elf_image *image, uint32_t expected)
{
	struct crc_tables tables;
	uint32_t crc = 0;
	off_t offset = 0;
	CLEANUP(freep) uint8_t *buffer = xmalloc(READ_SIZE);

	make_crc_tables(&tables);
	for (;;) {
		ssize_t len = pread(image->fd, buffer, READ_SIZE, offset);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return false;
		if (len == 0)
			return crc == expected;
		crc = crc_add(&tables, crc, buffer, (size_t)len);
		offset += len;
	}
}

static bool same_build(const uint8_t *id, size_t id_len, const struct elf_image *image)
{
	return id_len == image->build_id_len && memcmp(id, image->build_id, id_len) == 0;
}

/* The file below root for a build id, or NULL. */
static struct elf_image *open_by_build_id(const uint8_t *id, size_t id_len, const char *root)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	struct elf_image *image;

	if (id_len < 2 || id_len > ELF_BUILD_ID_MAX)
		return NULL;
	for (size_t i = 0; i < id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	CLEANUP(freep) char *path = xasprintf("%s/.build-id/%.2s/%s.debug", root, hex, hex + 2);
	if (elf_image_open(path, &image, NULL) < 0)
		return NULL;
	if (same_build(id, id_len, image))
		return image;
	elf_image_free(image);
	return NULL;
}

/* The name and the checksum in .gnu_debuglink; the name lives as long as image. */
static const char *read_link(const struct elf_image *image, uint32_t *out_crc)
{
	size_t len;
	const void *data = elf_image_section_bytes(image, ".gnu_debuglink", &len);

	if (!data)
		return NULL;
	struct bytes b = bytes_of(data, len);
	const char *name = bytes_string(&b);
	/* The checksum follows at the next multiple of four. */
	while (!b.short_read && (size_t)(b.at - (const uint8_t *)data) % 4 != 0)
		bytes_u8(&b);
	*out_crc = bytes_u32(&b);
	if (b.short_read || !*name || strchr(name, '/'))
		return NULL;
	return name;
}

/* Opens a candidate for the link: NULL if it is not the file meant. */
static struct elf_image *open_linked(const struct elf_image *image, const char *path,
				     uint32_t crc, struct notes *notes)
{
	struct elf_image *linked;

	if (elf_image_open(path, &linked, NULL) < 0)
		return NULL;
	bool is_other_build = image->build_id_len > 0 && linked->build_id_len > 0 &&
			      !same_build(image->build_id, image->build_id_len, linked);
	if (!is_other_build && has_checksum(linked, crc))
		return linked;
	if (notes && strcmp(path, image->path) != 0)
		notes_add(notes, "%s belongs to another build of %s and is not used", path,
			  image->path);
	elf_image_free(linked);
	return NULL;
}

static struct elf_image *open_by_link(const struct elf_image *image, const char *root,
				      struct notes *notes)
{
	uint32_t crc;
	const char *name = read_link(image, &crc);
	CLEANUP(freep) char *real = image->fd >= 0 ? realpath(image->path, NULL) : NULL;
	struct elf_image *found = NULL;

	if (!name || !real)
		return NULL;
	*strrchr(real, '/') = '\0';
	CLEANUP(freep) char *beside = xasprintf("%s/%s", real, name);
	CLEANUP(freep) char *below = xasprintf("%s/.debug/%s", real, name);
	CLEANUP(freep) char *apart = xasprintf("%s%s/%s", root, real, name);
	const char *const paths[] = { beside, below, apart };
	for (size_t i = 0; i < sizeof paths / sizeof paths[0] && !found; i++)
		found = open_linked(image, paths[i], crc, notes);
	return found;
}

struct elf_image *debug_file_open(const struct elf_image *image, const char *root,
				  struct notes *notes)
{
	root = root ? root : DEBUG_ROOT;
	struct elf_image *found = open_by_build_id(image->build_id, image->build_id_len, root);
	return found ? found : open_by_link(image, root, notes);
}

bool debug_file_is_installed(const struct elf_image *debug, const char *root)
{
	root = root ? root : DEBUG_ROOT;
	const size_t len = strlen(root);

	return strncmp(debug->path, root, len) == 0 && debug->path[len] == '/';
}

/*
 * Opens a path from .gnu_debugaltlink: absolute, or relative to the file that contains the
 * link.
 */
static struct elf_image *open_alt_path(const struct elf_image *image, const char *name,
				       const uint8_t *id, size_t id_len)
{
	struct elf_image *alt;
	CLEANUP(freep) char *real = image->fd >= 0 ? realpath(image->path, NULL) : NULL;

	if (*name != '/' && !real)
		return NULL;
	if (real)
		*strrchr(real, '/') = '\0';
	CLEANUP(freep)
	char *path = *name == '/' ? xstrdup(name) : xasprintf("%s/%s", real, name);
	if (elf_image_open(path, &alt, NULL) < 0)
		return NULL;
	if (same_build(id, id_len, alt))
		return alt;
	elf_image_free(alt);
	return NULL;
}

int debug_file_open_alt(const struct elf_image *image, const char *root,
			struct elf_image **out_alt)
{
	size_t len;
	const void *data = elf_image_section_bytes(image, ".gnu_debugaltlink", &len);

	*out_alt = NULL;
	if (!data)
		return 0;
	struct bytes b = bytes_of(data, len);
	const char *name = bytes_string(&b);
	size_t id_len = bytes_left(&b) < ELF_BUILD_ID_MAX ? bytes_left(&b) : ELF_BUILD_ID_MAX;
	const uint8_t *id = bytes_take(&b, id_len);
	if (!name || !id || id_len == 0)
		return -ENOENT;
	*out_alt = open_by_build_id(id, id_len, root ? root : DEBUG_ROOT);
	if (!*out_alt)
		*out_alt = open_alt_path(image, name, id, id_len);
	return *out_alt ? 0 : -ENOENT;
}
