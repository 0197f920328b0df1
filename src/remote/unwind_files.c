#include "remote/unwind_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "target/build_id.h"

/* Further unused files are closed as soon as no process maps them. */
#define IDLE_FILES 64
/* Per generation (base/recent.h): 1 MiB each; programs have some thousand call sites. */
#define RULES (3U << 14)

void unwind_files_init(struct unwind_files *files)
{
	*files = (struct unwind_files){ .rules.limit = RULES };
}

static void close_file(struct unwind_file *file)
{
	elf_file_close(&file->elf);
	free(file);
}

void unwind_files_done(struct unwind_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		close_file(files->files[i]);
	free(files->files);
	recent_done(&files->rules);
	free(files->i386_rows);
	*files = (struct unwind_files){ 0 };
}

void unwind_files_keep(struct unwind_file *file)
{
	if (file)
		file->users++;
}

void unwind_files_release(struct unwind_file *file)
{
	if (file)
		file->users--;
}

static void close_idle(struct unwind_files *files)
{
	size_t kept = 0;

	if (files->count < IDLE_FILES)
		return;
	for (size_t i = 0; i < files->count; i++) {
		if (files->files[i]->users > 0)
			files->files[kept++] = files->files[i];
		else
			close_file(files->files[i]);
	}
	files->count = kept;
}

static struct unwind_file *find(const struct unwind_files *files, const struct stat *status)
{
	for (size_t i = 0; i < files->count; i++) {
		struct unwind_file *file = files->files[i];

		if (file->inode == status->st_ino && file->device == status->st_dev &&
		    file->changed.tv_sec == status->st_ctim.tv_sec &&
		    file->changed.tv_nsec == status->st_ctim.tv_nsec)
			return file;
	}
	return NULL;
}

static struct unwind_file *open_new(struct unwind_files *files, const char *path)
{
	struct unwind_file *file = xzalloc(sizeof *file);
	struct stat status;

	if ((elf_file_open(path, &file->elf, NULL) < 0 &&
	     elf_file_open_i386(path, &file->elf) < 0) ||
	    fstat(file->elf.fd, &status) < 0) {
		close_file(file);
		return NULL;
	}
	file->id = ++files->last_id;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	file->changed = status.st_ctim;
	if (file->elf.frame_header == 0)
		elf_file_find_section(&file->elf, ".eh_frame", &file->frames);
	if (!file->elf.is_32_bit)
		go_table_read(&file->elf, &file->go);
	close_idle(files);
	files->files =
		array_grow(files->files, files->count, &files->capacity, sizeof *files->files);
	files->files[files->count++] = file;
	return file;
}

static bool has_build_id(const struct unwind_file *file, const uint8_t *build_id, size_t len)
{
	uint8_t own[ELF_BUILD_ID_MAX];

	return len == 0 || (elf_build_id_read_fd(file->elf.fd, own) == len &&
			    memcmp(own, build_id, len) == 0);
}

struct unwind_file *unwind_files_open(struct unwind_files *files, pid_t pid, const char *path,
				      const uint8_t *build_id, size_t build_id_len)
{
	CLEANUP(freep) char *inside = xasprintf("/proc/%d/root%s", (int)pid, path);
	struct unwind_file *file;
	struct stat status;
	const char *found = inside;

	if (stat(inside, &status) < 0) {
		found = path;
		if (stat(path, &status) < 0)
			return NULL;
	}
	file = find(files, &status);
	if (!file)
		file = open_new(files, found);
	if (!file || !has_build_id(file, build_id, build_id_len))
		return NULL;
	unwind_files_keep(file);
	return file;
}
