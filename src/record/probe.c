#include "record/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "record/journal.h"
#include "record/lock.h"

static bool is_folder_writable(const char *path)
{
	CLEANUP(freep) char *copy = xstrdup(path);

	return access(dirname(copy), W_OK) == 0;
}

/* O_NONBLOCK: opening a pipe must not wait for its other end. */
static int open_regular(const char *path, int *out_fd, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return error_errno(err, -errno, "%s: cannot be read", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		lock_close(fd);
		return error_set(err, -ENOEXEC,
				 "%s: not a recording but %s; name a file that 'fathom record' "
				 "made",
				 path, S_ISDIR(st.st_mode) ? "a folder" : "a special file");
	}
	*out_fd = fd;
	return 0;
}

static int read_header(struct probe *probe, struct error *err)
{
	uint8_t head[HEADER_BYTES];
	struct stat st;
	ssize_t len = pread(probe->fd, head, sizeof head, 0);

	if (len < 0 || fstat(probe->fd, &st) < 0)
		return error_errno(err, -errno, "%s: cannot be read", probe->path);
	probe->file_bytes = (uint64_t)st.st_size;
	if (len == 0 && probe->is_locked)
		return error_set(err, -EAGAIN,
				 "%s: its recorder has only just begun; try again in a second",
				 probe->path);
	return header_parse(head, (size_t)len, probe->path, &probe->header, err);
}

static int look(struct probe *probe, struct error *err)
{
	probe->is_locked = lock_is_taken(probe->fd);
	probe->has_wal = journal_is_there(probe->path, JOURNAL_WAL);
	probe->has_rollback = journal_is_there(probe->path, JOURNAL_ROLLBACK);
	probe->is_writable = access(probe->path, W_OK) == 0 && is_folder_writable(probe->path);
	return read_header(probe, err);
}

int probe_file(const char *path, struct probe *out_probe, struct error *err)
{
	struct probe probe = { .fd = -1 };
	int rc = open_regular(path, &probe.fd, err);

	if (rc < 0)
		return rc;
	probe.path = realpath(path, NULL);
	if (probe.path == NULL)
		rc = error_errno(err, -errno, "%s: cannot be found", path);
	else
		rc = look(&probe, err);
	if (rc < 0) {
		probe_done(&probe);
		return rc;
	}
	*out_probe = probe;
	return 0;
}

/*
 * A full disk or another reader may prevent folding the journal in: then it is read as it is.
 */
int probe_fold_journals(struct probe *probe, struct error *err)
{
	if (probe->is_locked || !probe->is_writable ||
	    (!probe->has_wal && !probe->has_rollback))
		return 0;
	int rc = journal_fold(probe->path, err);

	if (rc == -EBADMSG)
		return rc;
	return look(probe, err);
}

void probe_done(struct probe *probe)
{
	lock_closep(&probe->fd);
	free(probe->path);
	*probe = (struct probe){ .fd = -1 };
}
