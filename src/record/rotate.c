#include "record/rotate.h"

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
#include "record/journal.h"
#include "record/lock.h"
#include "record/probe.h"

#define EXTENSION ".fathom"
/* Another recorder may move the same file at this moment: retry so often. */
#define ATTEMPTS 10

/* What is at a path where a recording is to be created. */
enum occupant { NOTHING, EMPTY, OLDER, WRITTEN };

static const char *const suffixes[] = { JOURNAL_WAL, JOURNAL_SHM, JOURNAL_ROLLBACK };

static void probe_donep(struct probe *probe)
{
	probe_done(probe);
}

static int look(const char *path, enum occupant *out_occupant, struct error *err)
{
	CLEANUP(probe_donep) struct probe probe = { .fd = -1 };
	struct stat st;

	if (lstat(path, &st) < 0 && errno == ENOENT) {
		*out_occupant = NOTHING;
		return 0;
	}
	int rc = probe_file(path, &probe, err);
	/* A recording that is too new or damaged is still a recording: move it. */
	bool is_ours = rc == 0 || rc == -EPROTONOSUPPORT || rc == -EBADMSG;

	if (rc == -ENODATA)
		*out_occupant = EMPTY;
	else if (rc == -EAGAIN || (rc == 0 && probe.is_locked))
		*out_occupant = WRITTEN;
	else if (is_ours)
		*out_occupant = OLDER;
	else if (rc == -EACCES || rc == -EPERM)
		return error_set(err, rc,
				 "%s: is there and may not be read, so it stays (is it another "
				 "user's recording?); move it away, or name another file with "
				 "-o",
				 path);
	else
		return error_set(err, -EEXIST,
				 "%s: is there and is not a recording; move it away, or name "
				 "another file with -o",
				 path);
	return 0;
}

/*
 * Locks the file at path, so that two recorders do not move it at once, and a file just created
 * by another recorder is left alone. -EBUSY: another process has the lock; -EAGAIN: the file
 * was moved.
 */
static int hold(const char *path, int *out_fd)
{
	struct stat here, there;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	int rc = lock_take(fd);
	if (rc == 0 && (fstat(fd, &here) < 0 || stat(path, &there) < 0 ||
			here.st_ino != there.st_ino || here.st_dev != there.st_dev))
		rc = -EAGAIN;
	if (rc < 0) {
		lock_close(fd);
		return rc;
	}
	*out_fd = fd;
	return 0;
}

/* Removes the recording at path.old, with its journals. */
static int clear_old(const char *old, struct error *err)
{
	enum occupant occupant;
	int rc = look(old, &occupant, err);

	if (rc < 0)
		return rc;
	if (occupant == WRITTEN)
		return error_set(
			err, -EBUSY,
			"%s: is still being written, so the recording before it cannot be "
			"kept there; name another file with -o",
			old);
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		CLEANUP(freep) char *name = journal_path(old, suffixes[i]);

		unlink(name);
	}
	return 0;
}

/* Moves a recording, with a journal that could not be folded in (a full disk, damage). */
static int move(const char *path, const char *old, struct error *err)
{
	bool is_left[sizeof suffixes / sizeof *suffixes];
	struct error ignored;

	if (journal_is_there(path, JOURNAL_WAL) || journal_is_there(path, JOURNAL_ROLLBACK))
		journal_fold(path, &ignored);
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		is_left[i] = journal_is_there(path, suffixes[i]);
	if (rename(path, old) < 0)
		return error_errno(err, -errno, "%s: cannot be kept as %s", path, old);
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		/*
		 * The path is free from here on: a journal that appears at it is another
		 * recorder's.
		 */
		if (!is_left[i])
			continue;
		CLEANUP(freep) char *from = journal_path(path, suffixes[i]);
		CLEANUP(freep) char *to = journal_path(old, suffixes[i]);

		if (rename(from, to) < 0 && errno != ENOENT)
			return error_errno(err, -errno, "%s: cannot be kept as %s", from, to);
	}
	return 0;
}

static int move_older(const char *path, struct error *err)
{
	CLEANUP(lock_closep) int fd = -1;
	CLEANUP(freep) char *old = xasprintf("%s.old", path);
	int rc = hold(path, &fd);

	if (rc == -EBUSY || rc == -EAGAIN)
		return -EAGAIN;
	/* A read-only file can be moved all the same. */
	if (rc < 0 && rc != -EACCES)
		return error_errno(err, rc, "%s: cannot be kept as %s", path, old);
	rc = clear_old(old, err);
	return rc < 0 ? rc : move(path, old, err);
}

/* Removes a file that was never written to. */
static int remove_empty(const char *path, struct error *err)
{
	CLEANUP(lock_closep) int fd = -1;
	int rc = hold(path, &fd);

	if (rc == -EBUSY || rc == -EAGAIN)
		return -EAGAIN;
	if (rc < 0 || unlink(path) < 0)
		return error_errno(err, rc < 0 ? rc : -errno, "%s: cannot be replaced", path);
	return 0;
}

/* Frees path; RECORDING_ROTATION_AVOIDED if it is being written. */
static int make_way(const char *path, struct error *err)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		enum occupant occupant;
		int rc = look(path, &occupant, err);

		if (rc < 0)
			return rc;
		if (occupant == NOTHING)
			return RECORDING_ROTATION_FREE;
		if (occupant == WRITTEN)
			return RECORDING_ROTATION_AVOIDED;
		rc = occupant == EMPTY ? remove_empty(path, err) : move_older(path, err);
		if (rc == 0)
			return occupant == EMPTY ? RECORDING_ROTATION_FREE
						 : RECORDING_ROTATION_KEPT;
		if (rc != -EAGAIN)
			return rc;
		usleep(1000);
	}
	return RECORDING_ROTATION_AVOIDED;
}

static char *path_with_pid(const char *path, pid_t pid)
{
	size_t len = strlen(path), extension = strlen(EXTENSION);

	if (len > extension && strcmp(path + len - extension, EXTENSION) == 0)
		len -= extension;
	return xasprintf("%.*s.%d" EXTENSION, (int)len, path, (int)pid);
}

/* A symbolic link stays, and its target is moved: the journals are next to the target. */
static char *resolve(const char *path)
{
	struct stat st;
	char *resolved = NULL;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		resolved = realpath(path, NULL);
	return resolved != NULL ? resolved : xstrdup(path);
}

int recording_rotate(const char *asked_path, pid_t pid, char **out_path, struct error *err)
{
	CLEANUP(freep) char *path = resolve(asked_path);
	int rotation = make_way(path, err);

	if (rotation != RECORDING_ROTATION_AVOIDED) {
		if (rotation >= 0)
			*out_path = xstrdup(path);
		return rotation;
	}
	CLEANUP(freep) char *other = path_with_pid(path, pid);
	int rc = make_way(other, err);
	if (rc < 0)
		return rc;
	if (rc == RECORDING_ROTATION_AVOIDED)
		return error_set(
			err, -EBUSY,
			"%s and %s: are still being written; name another file with -o", path,
			other);
	*out_path = other;
	other = NULL;
	return RECORDING_ROTATION_AVOIDED;
}
