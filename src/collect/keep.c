#include "collect/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "record/writer.h"

/* Descriptors are few where the limit is 1,024, and each process we watch wants one. */
#define MAX_FILES      256
#define MAX_COPY_BYTES ((off_t)64 << 20)

struct keep_file {
	char *path;
	int fd;
	uint32_t process_row;
	bool was_gone; /* when it was first seen */
};

static int open_mapped(pid_t pid, uint64_t start, uint64_t end)
{
	char path[96];

	snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start,
		 end);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool is_known(const struct keep *keep, const char *path)
{
	for (size_t i = 0; i < keep->count; i++) {
		if (strcmp(keep->files[i].path, path) == 0)
			return true;
	}
	return false;
}

void keep_note(struct keep *keep, uint32_t process_row, pid_t pid, const char *path,
	       uint64_t start, uint64_t end)
{
	struct keep_file file = { .process_row = process_row };

	if (keep->count >= MAX_FILES || is_known(keep, path))
		return;
	file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file.fd < 0 && errno == ENOENT) {
		file.was_gone = true;
		file.fd = open_mapped(pid, start, end);
	}
	if (file.fd < 0)
		return;
	file.path = xstrdup(path);
	keep->files =
		array_grow(keep->files, keep->count, &keep->capacity, sizeof *keep->files);
	keep->files[keep->count++] = file;
}

/* Whether the path leads to something else by now, or to nothing. */
static bool is_gone(const struct keep_file *file, const struct stat *open_file)
{
	struct stat there;

	return file->was_gone || stat(file->path, &there) < 0 ||
	       there.st_dev != open_file->st_dev || there.st_ino != open_file->st_ino;
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
