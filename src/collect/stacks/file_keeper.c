#include "collect/stacks/file_keeper.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/processes/mapped_file.h"
#include "collect/processes/mappings.h"
#include "record/writer.h"

/* Descriptors are scarce where the limit is 1,024, and each watched process needs one. */
#define MAX_FILES      256
#define MAX_COPY_BYTES ((off_t)64 << 20)

struct held_file {
	char *path;
	int fd;
	uint32_t process_row;
};

static bool is_known(const struct file_keeper *keeper, const char *path)
{
	for (size_t i = 0; i < keeper->count; i++) {
		if (strcmp(keeper->files[i].path, path) == 0)
			return true;
	}
	return false;
}

void file_keeper_add(struct file_keeper *keeper, uint32_t process_row, pid_t pid,
		     const struct module_place *place)
{
	if (keeper->count >= MAX_FILES || is_known(keeper, place->path))
		return;
	const int fd = mapped_file_open(pid, place);

	if (fd < 0)
		return;
	keeper->files = array_grow(keeper->files, keeper->count, &keeper->capacity,
				   sizeof *keeper->files);
	keeper->files[keeper->count++] =
		(struct held_file){ xstrdup(place->path), fd, process_row };
}

/* Whether the path leads to another file by now, or to none. */
static bool is_gone(const struct held_file *file, const struct stat *open_file)
{
	struct stat there;

	return stat(file->path, &there) < 0 || there.st_dev != open_file->st_dev ||
	       there.st_ino != open_file->st_ino;
}

static void keep_copy(const struct held_file *file, off_t size, struct recording_writer *writer)
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

void file_keeper_finish(struct file_keeper *keeper, struct recording_writer *writer)
{
	for (size_t i = 0; i < keeper->count; i++) {
		struct stat about;

		if (fstat(keeper->files[i].fd, &about) == 0 && S_ISREG(about.st_mode) &&
		    about.st_size <= MAX_COPY_BYTES && is_gone(&keeper->files[i], &about))
			keep_copy(&keeper->files[i], about.st_size, writer);
	}
}

void file_keeper_done(struct file_keeper *keeper)
{
	for (size_t i = 0; i < keeper->count; i++) {
		close(keeper->files[i].fd);
		free(keeper->files[i].path);
	}
	free(keeper->files);
}
