#include "remote/interpreter_files.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/table.h"
#include "target/python.h"
#include "target/ruby.h"

/* Files without an interpreter beyond so many are searched each time. */
#define NONE_MOST 16384U

struct interpreter_files {
	/* To the address of the image, or 0. */
	struct table pythons, rubies;
};

struct interpreter_files *interpreter_files_new(void)
{
	return xzalloc(sizeof(struct interpreter_files));
}

void interpreter_files_free(struct interpreter_files *files)
{
	uint64_t hi, lo, value;
	size_t cursor = 0;

	if (!files)
		return;
	while (table_next(&files->pythons, &cursor, &hi, &lo, &value))
		python_image_free((void *)(uintptr_t)value);
	cursor = 0;
	while (table_next(&files->rubies, &cursor, &hi, &lo, &value))
		ruby_image_free((void *)(uintptr_t)value);
	table_done(&files->pythons);
	table_done(&files->rubies);
	free(files);
}

static bool key_of(const char *path, uint64_t *out_hi, uint64_t *out_lo)
{
	struct stat file;

	if (stat(path, &file) < 0)
		return false;
	*out_hi = (uint64_t)file.st_dev << 32 ^ (uint64_t)file.st_size;
	*out_lo = (uint64_t)file.st_ino << 32 ^ (uint64_t)file.st_ctim.tv_sec * 1000000000U ^
		  (uint64_t)file.st_ctim.tv_nsec;
	return true;
}

/* rc: 0, -ENOENT for no interpreter, or why the file could not be read just now. */
static void keep(struct table *images, uint64_t hi, uint64_t lo, const void *image, int rc)
{
	if (rc == 0 || (rc == -ENOENT && images->count < NONE_MOST))
		*table_at(images, hi, lo, NULL) = rc == 0 ? (uintptr_t)image : 0;
}

const struct python_image *interpreter_files_python(struct interpreter_files *files,
						    const char *path)
{
	struct python_image *image = NULL;
	uint64_t hi, lo, value;

	if (!key_of(path, &hi, &lo))
		return NULL;
	if (table_get(&files->pythons, hi, lo, &value))
		return (void *)(uintptr_t)value;
	const int rc = python_image_read(path, &image, NULL);

	keep(&files->pythons, hi, lo, image, rc);
	return rc == 0 ? image : NULL;
}

const struct ruby_image *interpreter_files_ruby(struct interpreter_files *files,
						const char *path)
{
	struct ruby_image *image = NULL;
	uint64_t hi, lo, value;

	if (!key_of(path, &hi, &lo))
		return NULL;
	if (table_get(&files->rubies, hi, lo, &value))
		return (void *)(uintptr_t)value;
	const int rc = ruby_image_read(path, &image, NULL);

	keep(&files->rubies, hi, lo, image, rc);
	return rc == 0 ? image : NULL;
}
