#include "collect/keep.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/mapped_file.h"
#include "collect/mappings.h"
#include "record/writer.h"

/* Descriptors are few where the limit is 1,024, and each process we watch wants one. */
#define MAX_FILES      256
#define MAX_COPY_BYTES ((off_t)64 << 20)

struct keep_file {
	char *path;
	int fd;
	uint32_t process_row;
};

static bool is_known(const struct keep *keep, const char *path)
{
	for (size_t i = 0; i < keep->count; i++) {
		if (strcmp(keep->files[i].path, path) == 0)
			return true;
	}
	return false;
}

void keep_note(struct keep *keep, uint32_t process_row, pid_t pid,
	       const struct module_place *place)
{
	if (keep->count >= MAX_FILES || is_known(keep, place->path))
		return;
	const int fd = mapped_file_open(pid, place);

	if (fd < 0)
		return;
	keep->files =
		array_grow(keep->files, keep->count, &keep->capacity, sizeof *keep->files);
	keep->files[keep->count++] =
		(struct keep_file){ xstrdup(place->path), fd, process_row };
}

/* Whether the path leads to something else by now, or to nothing. */
static bool is_gone(const struct keep_file *file, const struct stat *open_file)
{
	struct stat there;

	return stat(file->path, &there) < 0 || there.st_dev != open_file->st_dev ||
	       there.st_ino != open_file->st_ino;
}

static void keep_copy(const struct keep_file *file, off_t size, struct recording_writer *writer)
{
	CLEANUP(freep) char *data = xmalloc((size_t)size + 1);
	off_t len = 0;

	while (len < size) {
		const ssize_t got = pread(file->fd, data + len, (size_t)(size - len), len);

		if (got <= 0)
			break;
		len += got;
	}
	recording_writer_add_file(writer, file->process_row, file->path, data, (size_t)len);
}

void keep_finish(struct keep *keep, struct recording_writer *writer)
{
	for (size_t i = 0; i < keep->count; i++) {
		struct stat about;

		if (fstat(keep->files[i].fd, &about) == 0 && S_ISREG(about.st_mode) &&
		    about.st_size <= MAX_COPY_BYTES && is_gone(&keep->files[i], &about))
			keep_copy(&keep->files[i], about.st_size, writer);
	}
}

void keep_done(struct keep *keep)
{
	for (size_t i = 0; i < keep->count; i++) {
		close(keep->files[i].fd);
		free(keep->files[i].path);
	}
	free(keep->files);
}
