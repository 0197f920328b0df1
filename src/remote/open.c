#include "remote/open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/refusal.h"
#include "remote/ruby.h"
#include "target/elf_file.h"
#include "target/maps.h"

/* All threads that run together are waited for no longer. */
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

/* Static programs have unwind rules without a table of them: only section headers say where. */
static void find_rules(struct remote *remote, struct remote_image *image)
{
	CLEANUP(freep) char *path = remote_image_path(remote, image);
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

static void find_all_rules(struct remote *remote)
{
	for (size_t i = 0; i < remote->images.count; i++) {
		struct remote_image *image = &remote->images.images[i];

		if (image->has_code && *image->path == '/' && image->native.eh_frame_hdr == 0)
			find_rules(remote, image);
	}
}

/* The first image of each language that has one. */
static void find_interpreters(struct remote *remote)
{
	for (size_t i = 0; i < remote->images.count; i++) {
		const struct remote_image *image = &remote->images.images[i];

		if (!image->has_code || *image->path != '/')
			continue;
		CLEANUP(freep) char *path = remote_image_path(remote, image);

		if (!remote->python)
			remote_python_find(remote, image, path);
		if (!remote->ruby)
			remote_ruby_find(remote, image, path);
	}
}

int remote_open(pid_t pid, struct remote *out_remote, struct error *err)
{
	struct remote *remote = out_remote;
	char path[32];
	int rc;

	*remote = (struct remote){ .pid = pid, .fd = -1 };
	rc = refusal_judge(pid, err);
	if (rc < 0)
		return rc;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	remote->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (remote->fd < 0)
		return refusal_explain(pid, -errno, err);
	remote->patience_ms = PATIENCE_MS;
	remote->root = xasprintf("/proc/%d/root", (int)pid);
	memory_init(&remote->mem, (struct memory_source){ fetch, remote });
	rc = maps_read(pid, &remote->maps, err);
	if (rc < 0) {
		remote_close(remote);
		return refusal_explain(pid, rc, err);
	}
	remote_images_read(&remote->images, remote->maps, &remote->mem);
	if (remote->images.count == 0) {
		remote_close(remote);
		return refusal_explain(pid, -ESRCH, err);
	}
	find_all_rules(remote);
	find_interpreters(remote);
	return 0;
}

void remote_close(struct remote *remote)
{
	remote_python_free(remote->python);
	remote_ruby_free(remote->ruby);
	remote_images_done(&remote->images);
	maps_free(remote->maps);
	memory_done(&remote->mem);
	table_done(&remote->rules);
	intern_done(&remote->strings);
	free(remote->root);
	free(remote->locals);
	closep(&remote->fd);
	*remote = (struct remote){ .fd = -1 };
}
