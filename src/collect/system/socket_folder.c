#include "collect/system/socket_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "base/error.h"

/* The most folders that a recorder checks at its start. */
#define MOST_LOOKED_AT 4096
/*
 * A recorder makes its folder, then locks it; until then it holds a shared lock on the user's
 * folder.  While any recorder holds that, an empty folder may be about to be locked, so only an
 * older one is removed.
 */
#define EMPTY_SECONDS 10
#define RUN_TEMPLATE  "XXXXXX"

static mode_t mode_of_folders(void)
{
	return geteuid() == 0 ? 0711 : 0700;
}

/*
 * XDG_RUNTIME_DIR, which is removed when the user's login session ends.  Not root's: programs
 * that change their user could not enter it.
 */
static const char *runtime_base(void)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	struct stat status;

	if (base == NULL || geteuid() == 0 || lstat(base, &status) < 0 ||
	    !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
	    (status.st_mode & 0077) != 0)
		return NULL;
	return base;
}

/* In LD_PRELOAD a blank or a colon ends a file's name (handshake_server_link_agent()). */
static bool is_usable(const char *base)
{
	return base != NULL && base[0] == '/' && strpbrk(base, " :") == NULL;
}

/*
 * Opens the user's folder, made if it is missing; -1: it belongs to another user, or others may
 * write to it.
 */
static int open_users_folder(const char *path)
{
	struct stat status;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -1;
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	    (status.st_mode & 0022) == 0 && fchmod(fd, mode_of_folders()) == 0)
		return fd;
	close(fd);
	return -1;
}

/*
 * Whether the recorder of a folder has ended.  If so, fd keeps the folder locked until it is
 * closed.
 */
static bool is_left_behind(int fd, bool is_none_begun)
{
	struct stat status, entry;

	if (fstat(fd, &status) < 0 || status.st_uid != geteuid() ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	return is_none_begun ||
	       fstatat(fd, &HANDSHAKE_SOCKET[1], &entry, AT_SYMLINK_NOFOLLOW) == 0 ||
	       fstatat(fd, &HANDSHAKE_TRACE_SOCKET[1], &entry, AT_SYMLINK_NOFOLLOW) == 0 ||
	       time(NULL) - status.st_mtime > EMPTY_SECONDS;
}

static void sweep_one(int users_fd, const char *name, bool is_none_begun)
{
	const int fd = openat(users_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (is_left_behind(fd, is_none_begun)) {
		unlinkat(fd, &SOCKET_FOLDER_AGENT_LINK[1], 0);
		unlinkat(fd, &HANDSHAKE_SOCKET[1], 0);
		unlinkat(fd, &HANDSHAKE_TRACE_SOCKET[1], 0);
		unlinkat(users_fd, name, AT_REMOVEDIR);
	}
	close(fd);
}

static void sweep(int users_fd)
{
	const bool is_none_begun = flock(users_fd, LOCK_EX | LOCK_NB) == 0;
	const int fd = fcntl(users_fd, F_DUPFD_CLOEXEC, 0);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (folder == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (int i = 0; i < MOST_LOOKED_AT && (entry = readdir(folder)) != NULL; i++) {
		if (strlen(entry->d_name) == strlen(RUN_TEMPLATE))
			sweep_one(users_fd, entry->d_name, is_none_begun);
	}
	closedir(folder);
}

/* Makes the run's folder at a path that ends with the template. */
static int make_and_lock(struct socket_folder *folder)
{
	if (mkdtemp(folder->path) == NULL) {
		const int rc = -errno;

		folder->path[0] = '\0';
		return rc;
	}
	folder->lock_fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder->lock_fd < 0 || fchmod(folder->lock_fd, mode_of_folders()) < 0 ||
	    flock(folder->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	return 0;
}

/*
 * Makes it in BASE/fathom-UID; if another user has taken that name, in BASE itself, which is
 * safe: agents authenticate their recorder.
 */
static int make_below(const char *base, struct socket_folder *folder)
{
	char users[SOCKET_FOLDER_PATH - sizeof "/" RUN_TEMPLATE];
	const int length =
		snprintf(users, sizeof users, "%s/fathom-%u", base, (unsigned int)geteuid());

	if ((size_t)length >= sizeof users)
		return -ENAMETOOLONG;
	const int users_fd = open_users_folder(users);

	snprintf(folder->path, sizeof folder->path, "%s%c" RUN_TEMPLATE, users,
		 users_fd >= 0 ? '/' : '-');
	if (users_fd < 0)
		return make_and_lock(folder);
	sweep(users_fd);
	/*
	 * A sweeping recorder holds the lock for a few system calls; wait at most 0.1 s, for it
	 * may be stopped.
	 */
	for (int i = 0; i < 100 && flock(users_fd, LOCK_SH | LOCK_NB) < 0; i++)
		usleep(1000);
	const int rc = make_and_lock(folder);

	close(users_fd);
	return rc;
}

int socket_folder_make(struct socket_folder *out_folder, struct error *err)
{
	const char *const bases[] = { runtime_base(), getenv("TMPDIR"), "/tmp" };
	int rc = 0;

	*out_folder = (struct socket_folder){ .lock_fd = -1 };
	for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
		if (!is_usable(bases[i]))
			continue;
		rc = make_below(bases[i], out_folder);
		if (rc == 0)
			return 0;
		socket_folder_remove(out_folder);
	}
	return error_errno(err, rc,
			   "cannot make a folder in /tmp for the agents' socket (set TMPDIR to "
			   "one that can be written)");
}

void socket_folder_remove(struct socket_folder *folder)
{
	if (folder->path[0] != '\0')
		rmdir(folder->path);
	if (folder->lock_fd >= 0)
		close(folder->lock_fd);
	*folder = (struct socket_folder){ .lock_fd = -1 };
}
