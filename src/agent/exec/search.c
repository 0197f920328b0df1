#include "agent/exec/search.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* confstr(_CS_PATH), which is used where there is no PATH. */
#define SEARCH_DEFAULT "/bin:/usr/bin"

static bool lets_search_go_on(int error)
{
	switch (error) {
	case EACCES:
	case ENOENT:
	case ESTALE:
	case ENOTDIR:
	/* Strange file systems return these for a missing file. */
	case ENODEV:
	case ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

/* Joins the folder, of folder_bytes, a slash, and file; an empty folder is the current one. */
static void join(char *out, const char *folder, size_t folder_bytes, const char *file)
{
	memcpy(out, folder, folder_bytes);
	if (folder_bytes > 0)
		out[folder_bytes++] = '/';
	strcpy(out + folder_bytes, file);
}

struct search {
	const char *folders, *file;
	search_try try;
	void *context;
};

/* path has room for each folder and the file. */
static int search_in(const struct search *search, char *path)
{
	bool was_denied = false;
	/* If nothing is tried, errno stays, as in libc. */
	int rc = -errno;

	for (const char *folder = search->folders;; folder++) {
		const size_t bytes = strcspn(folder, ":");

		/* A folder that is too long is skipped, as in libc. */
		if (bytes < PATH_MAX) {
			join(path, folder, bytes, search->file);
			rc = search->try(search->context, path);
			if (rc >= 0 || !lets_search_go_on(-rc))
				return rc;
			was_denied |= rc == -EACCES;
		}
		folder += bytes;
		if (*folder == '\0')
			return was_denied ? -EACCES : rc;
	}
}

/*
 * libc puts as many bytes on the stack as PATH is long: a thread with the smallest of stacks may
 * have room for that and a signal, and for no more.
 */
#define SEARCH_SHORT 512

static __attribute__((noinline)) int search_short(const struct search *search)
{
	char path[SEARCH_SHORT];

	return search_in(search, path);
}

static __attribute__((noinline)) int search_long(const struct search *search)
{
	char path[PATH_MAX + NAME_MAX + 2];

	return search_in(search, path);
}

int search_path(const char *file, search_try try, void *context)
{
	const char *folders = getenv("PATH");
	struct search search = { .file = file, .try = try, .context = context };

	if (file[0] == '\0')
		return -ENOENT;
	if (strchr(file, '/') != NULL)
		return try(context, file);
	if (strlen(file) > NAME_MAX)
		return -ENAMETOOLONG;
	search.folders = folders != NULL ? folders : SEARCH_DEFAULT;
	/* Two more: a slash, and the NUL at the end. */
	return strlen(search.folders) + strlen(file) + 2 <= SEARCH_SHORT ? search_short(&search)
									 : search_long(&search);
}
