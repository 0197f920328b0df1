#include "remote/process.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "remote/core_memory.h"
#include "target/maps.h"
#include "walk/name_text.h"

/* Whether the file at path can be read. */
static bool is_there(const char *path)
{
	return access(path, R_OK) == 0;
}

char *remote_image_path(const struct remote *remote, const struct remote_image *image)
{
	if (remote->core) {
		char *path = core_path_at(remote->core, image->native.start);

		return path ? path : xstrdup(image->path);
	}
	char *path = xasprintf("%s%s", remote->root, image->path);

	if ((!image->is_deleted && is_there(path)))
		return path;
	/*
	 * This link needs CAP_CHECKPOINT_RESTORE, and leads to the file even when it was
	 * deleted.
	 */
	const struct mapping *mapping = maps_find(remote->maps, image->native.start);
	char *link = xasprintf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)remote->pid,
			       mapping->start, mapping->end);

	if (is_there(link)) {
		free(path);
		return link;
	}
	free(link);
	return path;
}

const char *remote_keep(struct remote *remote, const void *bytes, size_t len)
{
	return intern_get(&remote->strings, intern_add(&remote->strings, bytes, len), NULL);
}

const char *remote_keep_name(struct remote *remote, const struct name_text *text)
{
	return text->length > 0 ? remote_keep(remote, text->bytes, text->length) : NULL;
}
