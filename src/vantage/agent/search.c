#include "vantage/agent/search.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What confstr(_CS_PATH) says, where there is no PATH. */
#define SEARCH_DEFAULT "/bin:/usr/bin"

static bool lets_search_go_on(int error)
{
	switch (error) {
	case EACCES:
	case ENOENT:
	case ESTALE:
	case ENOTDIR:
	/* Strange file systems have these for a file that is not there. */
	case ENODEV:
	case ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

/* The folder of folder_bytes, a slash, and file; an empty folder is the current one. */
static void join(char *out, const char *folder, size_t folder_bytes, const char *file)
{
	memcpy(out, folder, folder_bytes);
	if (folder_bytes > 0)
		out[folder_bytes++] = '/';
	strcpy(out + folder_bytes, file);
}

/* The name is not too long. */
static int search_folders(const char *folders, const char *file, search_try try, void *context)
{
	/* libc has it on the stack, too. */
	char path[PATH_MAX + NAME_MAX + 2];
	bool was_denied = false;
	/* If nothing is tried, libc says what was said last. */
	int rc = -errno;

	for (const char *folder = folders;; folder++) {
		const size_t bytes = strcspn(folder, ":");

		/* A folder that is too long is passed over without a word. */
		if (bytes < PATH_MAX) {
			join(path, folder, bytes, file);
			rc = try(context, path);
			if (rc >= 0 || !lets_search_go_on(-rc))
				return rc;
			was_denied |= rc == -EACCES;
		}
		folder += bytes;
		if (*folder == '\0')
			return was_denied ? -EACCES : rc;
	}
}

int search_path(const char *file, search_try try, void *context)
{
	const char *folders = getenv("PATH");

	if (file[0] == '\0')
		return -ENOENT;
	if (strchr(file, '/') != NULL)
		return try(context, file);
	if (strlen(file) > NAME_MAX)
		return -ENAMETOOLONG;
	return search_folders(folders != NULL ? folders : SEARCH_DEFAULT, file, try, context);
}
