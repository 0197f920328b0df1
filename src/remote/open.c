#include "remote/open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "remote/core_memory.h"
#include "remote/data_names.h"
#include "remote/interpreter_files.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/refusal.h"
#include "remote/ruby.h"
#include "remote/unwind_files.h"
#include "target/elf_file.h"
#include "target/maps.h"

/* The total time to wait for running threads, all together. */
#define PATIENCE_MS 500

static bool fetch(void *context, uint64_t address, void *page, bool *out_is_lasting)
{
	const struct remote *remote = context;
	const struct mapping *mapping;

	if (pread(remote->fd, page, MEMORY_PAGE, (off_t)address) != (ssize_t)MEMORY_PAGE)
		return false;
	mapping = remote->maps ? maps_find(remote->maps, address) : NULL;
	*out_is_lasting =
		mapping && !mapping->is_writable && !mapping->is_shared && mapping->inode != 0;
	return true;
}

/*
 * Whether we can read the file that was mapped; of a core, as far as the files can be compared.
 */
static bool has_file(struct remote *remote, const struct remote_image *image)
{
	const enum core_fit fit =
		remote->core ? core_fit_at(remote->core, image->native.start) : CORE_FIT_SAME;

	return fit == CORE_FIT_SAME || fit == CORE_FIT_ASSUMED;
}

static void close_go(struct remote *remote)
{
	if (remote->go_file)
		elf_file_close(&remote->go_file->elf);
	free(remote->go_file);
	remote->go_file = NULL;
}

/* Go programs: their unwind rules are in a table of their own, which is read from the file. */
static void find_go(struct remote *remote, struct remote_image *image, const char *path)
{
	struct unwind_file *file;

	if (remote->go_file)
		return;
	file = xzalloc(sizeof *file);
	if (elf_file_open(path, &file->elf, NULL) < 0) {
		free(file);
		return;
	}
	remote->go_file = file;
	if (go_table_read(&file->elf, &file->go))
		image->file = file;
	else
		close_go(remote);
}

/* Static programs may have .eh_frame without an index: only section headers locate it. */
static void find_rules(struct remote_image *image, const char *path)
{
	struct elf_file_symbol place;
	struct elf_file elf;

	if (elf_file_open(path, &elf, NULL) < 0)
		return;
	if (elf_file_find_section(&elf, ".eh_frame", &place)) {
		image->native.eh_frame = place.address + image->bias;
		image->native.eh_frame_len = place.size;
	}
	elf_file_close(&elf);
}

/*
 * The program is mapped below its libraries; a Go program with parts in C has .eh_frame as
 * well.
 */
static void find_all_rules(struct remote *remote)
{
	for (size_t i = 0; i < remote->images.count; i++) {
		struct remote_image *image = &remote->images.images[i];
		const bool has_table = image->native.eh_frame_hdr != 0;

		if (!image->has_code || *image->path != '/' || (has_table && i > 0) ||
		    !has_file(remote, image))
			continue;
		CLEANUP(freep) char *path = remote_image_path(remote, image);

		if (!has_table)
			find_rules(image, path);
		find_go(remote, image, path);
	}
}

/* Core files: an image named like an interpreter whose file is absent is reported as one. */
static void say_absent(struct remote *remote, const struct remote_image *image)
{
	const char *slash = strrchr(image->path, '/');
	const char *name = slash ? slash + 1 : image->path;
	CLEANUP(freep)
	char *why = xasprintf("the file of the interpreter, %s, is not here, "
			      "or is another build",
			      image->path);

	if (strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0)
		remote->why_no_python = remote_keep(remote, why, strlen(why));
	else if (strncmp(name, "ruby", 4) == 0 || strncmp(name, "libruby", 7) == 0)
		remote->why_no_ruby = remote_keep(remote, why, strlen(why));
}

/* Uses the first image of each language. */
static void find_interpreters(struct remote *remote)
{
	for (size_t i = 0; i < remote->images.count; i++) {
		const struct remote_image *image = &remote->images.images[i];

		if (!image->has_code || *image->path != '/')
			continue;
		if (!has_file(remote, image)) {
			say_absent(remote, image);
			continue;
		}
		CLEANUP(freep) char *path = remote_image_path(remote, image);

		if (!remote->python)
			remote_python_find(remote, image, path);
		if (!remote->ruby)
			remote_ruby_find(remote, image, path);
	}
}

/* Of this process alone if there are no shared ones. */
static void use_files(struct remote *remote, struct interpreter_files *shared)
{
	remote->owns_files = shared == NULL;
	remote->files = shared ? shared : interpreter_files_new();
}

int remote_open(pid_t pid, struct interpreter_files *files, struct remote *out_remote,
		struct error *err)
{
	struct remote *remote = out_remote;
	char path[32];
	pid_t alive;
	int rc;

	*remote = (struct remote){ .process = pid, .pid = pid, .fd = -1 };
	rc = refusal_judge("dump", pid, err);
	if (rc < 0)
		return rc;
	/* After pthread_exit() in main() the first thread has no memory. */
	alive = task_alive(pid);
	/* If the process has ended meanwhile, its own number is reported. */
	if (alive != 0)
		pid = alive;
	remote->pid = pid;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	remote->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (remote->fd < 0)
		return refusal_explain("dump", pid, -errno, err);
	remote->patience_ms = PATIENCE_MS;
	remote->root = xasprintf("/proc/%d/root", (int)pid);
	memory_init(&remote->mem, (struct memory_source){ fetch, remote });
	rc = maps_read(pid, &remote->maps, err);
	if (rc < 0) {
		remote_close(remote);
		return refusal_explain("dump", pid, rc, err);
	}
	remote_images_read(&remote->images, remote->maps, &remote->mem);
	if (remote->images.count == 0) {
		remote_close(remote);
		return refusal_of_images(pid, err);
	}
	find_all_rules(remote);
	use_files(remote, files);
	find_interpreters(remote);
	return 0;
}

int remote_map_again(struct remote *remote, struct error *err)
{
	struct maps *maps;
	const int rc = maps_read(remote->pid, &maps, err);

	if (rc < 0)
		return refusal_explain("dump", remote->pid, rc, err);
	remote_images_done(&remote->images);
	close_go(remote);
	maps_free(remote->maps);
	remote->maps = maps;
	memory_done(&remote->mem);
	memory_init(&remote->mem, (struct memory_source){ fetch, remote });
	recent_done(&remote->rules);
	data_names_done(&remote->data_names);
	remote->rules = (struct recent){ 0 };
	remote->data_names = (struct data_names){ 0 };
	remote->pthread_lists = (struct pthread_lists){ 0 };
	remote_images_read(&remote->images, remote->maps, &remote->mem);
	find_all_rules(remote);
	if (!remote->python || !remote->ruby)
		find_interpreters(remote);
	return 0;
}

int remote_open_core(const struct remote_core_options *options, struct remote *out_remote,
		     struct error *err)
{
	struct remote *remote = out_remote;
	struct core *core;
	const int rc = core_new(options->path, options->program, options->root, &core, err);

	if (rc < 0)
		return rc;
	*remote = (struct remote){
		.process = core->file.pid, .pid = core->file.pid, .fd = -1, .core = core
	};
	memory_init(&remote->mem, (struct memory_source){ core_fetch, core });
	remote->maps = core_maps(core);
	remote_images_read(&remote->images, remote->maps, &remote->mem);
	find_all_rules(remote);
	use_files(remote, NULL);
	find_interpreters(remote);
	return 0;
}

void remote_close(struct remote *remote)
{
	remote_python_free(remote->python);
	remote_ruby_free(remote->ruby);
	if (remote->owns_files)
		interpreter_files_free(remote->files);
	remote_images_done(&remote->images);
	close_go(remote);
	maps_free(remote->maps);
	memory_done(&remote->mem);
	recent_done(&remote->rules);
	intern_done(&remote->strings);
	intern_done(&remote->labels);
	data_names_done(&remote->data_names);
	table_done(&remote->mutexes);
	table_done(&remote->acquires);
	sockets_done(&remote->sockets);
	core_free(remote->core);
	free(remote->root);
	free(remote->locals);
	closep(&remote->fd);
	*remote = (struct remote){ .fd = -1 };
}
