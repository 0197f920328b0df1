#include "remote/data_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/process.h"
#include "target/elf_objects.h"
#include "target/maps.h"

/* Files whose symbols are read; real programs have locks in a handful of files. */
#define FILES_MOST 16U
/* Variables named per process; further ones get no name. */
#define NAMES_MOST 8192U
/* No mutex, condition or semaphore of glibc is larger: a larger variable holds several. */
#define ONE_LOCK 64U
/* Real names are shorter; those of templates are long and say little. */
#define NAME_MOST 200U

static const struct elf_objects *objects_of(struct remote *remote,
					    const struct remote_image *image)
{
	struct data_names *names = &remote->data_names;
	uint64_t *place = table_find(&names->files, 0, image->native.start);

	if (place)
		return (struct elf_objects *)(uintptr_t)*place;
	if (names->files.count >= FILES_MOST)
		return NULL;
	struct elf_objects *objects = xzalloc(sizeof *objects);
	CLEANUP(freep) char *path = remote_image_path(remote, image);

	elf_objects_read(path, objects);
	*table_at(&names->files, 0, image->native.start, NULL) = (uintptr_t)objects;
	return objects;
}

/* The length without the suffix that gcc adds to a function's static variables: "lock.0". */
static size_t length_of(const char *name)
{
	size_t len = strnlen(name, NAME_MOST);
	size_t end = len;

	while (end > 0 && isdigit((unsigned char)name[end - 1]))
		end--;
	return end > 1 && end < len && name[end - 1] == '.' ? end - 1 : len;
}

static const char *find(struct remote *remote, uint64_t address)
{
	const struct mapping *mapping = maps_find(remote->maps, address);
	const struct remote_image *image = remote_images_find(&remote->images, address);
	const struct elf_objects *objects;
	CLEANUP(text_done) struct text text = { 0 };
	uint64_t offset = 0, size = 0;
	const char *name;

	/* An address outside of all images, as on the heap, is no variable. */
	if (!mapping || !image || image->is_deleted)
		return NULL;
	objects = objects_of(remote, image);
	name = objects ? elf_objects_find(objects, address - image->bias, &offset, &size)
		       : NULL;
	if (!name)
		return NULL;
	text_add_printable(&text, name, length_of(name));
	if (offset > 0 && size > ONE_LOCK)
		text_addf(&text, "+0x%" PRIx64, offset);
	return remote_keep(remote, text.data, text.len);
}

const char *data_names_find(struct remote *remote, uint64_t address)
{
	struct data_names *names = &remote->data_names;
	uint64_t value = 0;

	if (table_get(&names->by_address, 0, address, &value))
		return (const char *)(uintptr_t)value;
	if (names->by_address.count >= NAMES_MOST)
		return NULL;
	value = (uintptr_t)find(remote, address);
	*table_at(&names->by_address, 0, address, NULL) = value;
	return (const char *)(uintptr_t)value;
}

void data_names_done(struct data_names *names)
{
	uint64_t hi, lo, value;
	size_t cursor = 0;

	while (table_next(&names->files, &cursor, &hi, &lo, &value)) {
		struct elf_objects *objects = (void *)(uintptr_t)value;

		elf_objects_done(objects);
		free(objects);
	}
	table_done(&names->files);
	table_done(&names->by_address);
}
