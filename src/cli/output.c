#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "export/sink.h"

int output_write(int fd, const char *name, const void *bytes, size_t len, struct error *err)
{
	const char *at = bytes;

	while (len) {
		ssize_t written = write(fd, at, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_errno(err, -errno, "cannot write to %s", name);
		at += written;
		len -= (size_t)written;
	}
	return 0;
}

struct output output_stdout(void)
{
	return (struct output){ .fd = STDOUT_FILENO, .name = "standard output" };
}

static int write_to_sink(void *context, const void *bytes, size_t len, struct error *err)
{
	const struct output *output = context;

	return output_write(output->fd, output->name, bytes, len, err);
}

struct sink output_sink(struct output *output)
{
	return (struct sink){ .write = write_to_sink, .context = output };
}

/* The folder that contains the path. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Opens a nameless file (O_TMPFILE) if the file system supports it; else a temporary name. */
static int open_temporary(struct output *output)
{
	CLEANUP(freep) char *folder = folder_of(output->target);

	output->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, default_mode());
	if (output->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	output->temporary = xasprintf("%s.XXXXXX", output->target);
	output->fd = mkostemp(output->temporary, O_CLOEXEC);
	if (output->fd < 0)
		return -errno;
	return fchmod(output->fd, default_mode()) < 0 ? -errno : 0;
}

static int open_in_place(struct output *output)
{
	output->fd = open(output->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return output->fd < 0 ? -errno : 0;
}

int output_open(const char *path, struct output *out_output, struct error *err)
{
	struct output output = { .fd = -1, .name = path };
	struct stat about;
	bool exists = stat(path, &about) == 0;
	int rc;

	if (exists && S_ISDIR(about.st_mode))
		return error_errno(err, -EISDIR, "cannot write %s", path);
	if (exists && !S_ISREG(about.st_mode)) {
		rc = open_in_place(&output);
	} else if (exists && access(path, W_OK) < 0) {
		rc = -errno; /* rename() would not check this */
	} else {
		output.target = exists ? realpath(path, NULL) : xstrdup(path);
		rc = output.target ? open_temporary(&output) : -errno;
	}
	if (rc < 0) {
		output_abandon(&output);
		return error_errno(err, rc, "cannot write %s", path);
	}
	*out_output = output;
	return 0;
}

/* Links the nameless file to a free name. */
static int name_temporary(struct output *output)
{
	CLEANUP(freep) char *open_file = xasprintf("/proc/self/fd/%d", output->fd);

	for (int i = 0; i < 100; i++) {
		char *name = xasprintf("%s.%d.%d", output->target, (int)getpid(), i);

		if (linkat(AT_FDCWD, open_file, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
			output->temporary = name;
			return 0;
		}
		free(name);
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int put_in_place(struct output *output)
{
	int rc = output->temporary ? 0 : name_temporary(output);

	if (rc < 0)
		return rc;
	if (rename(output->temporary, output->target) < 0)
		return -errno;
	free(output->temporary);
	output->temporary = NULL; /* there is nothing left to remove */
	return 0;
}

int output_finish(struct output *output, struct error *err)
{
	const char *name = output->name;
	int rc = output->target ? put_in_place(output) : 0;

	/* Some file systems report a full disk only on close(). */
	if (rc == 0 && output->fd > STDERR_FILENO) {
		if (close(output->fd) < 0)
			rc = -errno;
		output->fd = -1;
	}
	output_abandon(output);
	return rc < 0 ? error_errno(err, rc, "cannot write %s", name) : 0;
}

void output_abandon(struct output *output)
{
	if (output->fd > STDERR_FILENO)
		close(output->fd);
	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	free(output->target);
	*output = (struct output){ .fd = -1 };
}
