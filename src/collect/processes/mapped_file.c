#include "collect/processes/mapped_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/regular_file.h"
#include "collect/processes/mappings.h"
#include "target/build_id.h"
#include "target/maps.h"

#define PROBE_BYTES 4096

/* A file as the kernel shows it in maps. */
struct identity {
	uint32_t major, minor;
	uint64_t inode;
};

static bool is_same(struct identity a, struct identity b)
{
	return a.inode != 0 && a.inode == b.inode && a.major == b.major && a.minor == b.minor;
}

/* The file that pid has mapped at the address.  False if none, or if it cannot be read. */
static bool read_identity(pid_t pid, uint64_t address, struct identity *out_identity)
{
	CLEANUP(maps_freep) struct maps *maps = NULL;

	if (maps_read(pid, &maps, NULL) < 0)
		return false;
	const struct mapping *mapping = maps_find(maps, address);

	if (mapping == NULL)
		return false;
	*out_identity = (struct identity){ mapping->device_major, mapping->device_minor,
					   mapping->inode };
	return true;
}

/* The file's identity in our own maps: it is mapped for a moment. */
static bool identify(int fd, struct identity *out_identity)
{
	void *probe = mmap(NULL, PROBE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);

	if (probe == MAP_FAILED)
		return false;
	const bool is_known = read_identity(getpid(), (uintptr_t)probe, out_identity);

	munmap(probe, PROBE_BYTES);
	return is_known;
}

static bool is_same_file(int fd, int other_fd)
{
	struct stat about, other;
	struct identity identity, other_identity;

	if (fstat(fd, &about) < 0 || fstat(other_fd, &other) < 0)
		return false;
	if (about.st_dev == other.st_dev && about.st_ino == other.st_ino)
		return true;
	return identify(fd, &identity) && identify(other_fd, &other_identity) &&
	       is_same(identity, other_identity);
}

static bool has_build(int fd, const struct module_place *place)
{
	uint8_t build_id[sizeof place->build_id];

	return place->build_id_len != 0 &&
	       elf_build_id_read_fd(fd, build_id) == place->build_id_len &&
	       memcmp(build_id, place->build_id, place->build_id_len) == 0;
}

static bool is_at_path(int fd, const char *path)
{
	char link[32], target[PATH_MAX];

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	const ssize_t len = readlink(link, target, sizeof target);
	const size_t path_len = strlen(path);

	return len >= (ssize_t)path_len && memcmp(target, path, path_len) == 0 &&
	       ((size_t)len == path_len || ((size_t)len == path_len + 10 &&
					    memcmp(target + path_len, " (deleted)", 10) == 0));
}

/*
 * Checks what it opened: the process may have executed another program since, or the pid may be
 * another process's.
 */
static int open_through_process(pid_t pid, const struct module_place *place)
{
	char link[96];

	snprintf(link, sizeof link, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 place->start, place->end);
	int fd = regular_file_open(link, NULL);

	if (fd < 0)
		return -1;
	if (place->build_id_len != 0 ? has_build(fd, place) : is_at_path(fd, place->path))
		return fd;
	close(fd);
	return -1;
}

static bool is_mapped(int fd, pid_t pid, const struct module_place *place)
{
	struct identity mapped, ours;

	if (read_identity(pid, place->start, &mapped))
		return identify(fd, &ours) && is_same(mapped, ours);
	/*
	 * The process has ended.  A file with the same build id will do, except for root, which
	 * can read files that the program could not.
	 */
	return geteuid() != 0 && has_build(fd, place);
}

int mapped_file_open(pid_t pid, const struct module_place *place)
{
	CLEANUP(closep) int mapped = open_through_process(pid, place);
	CLEANUP(closep) int fd = regular_file_open(place->path, NULL);
	int found = -1;

	/*
	 * Prefer the file at the path, if it is the same: on overlayfs the other has another
	 * device.
	 */
	if (fd >= 0 && (mapped >= 0 ? is_same_file(mapped, fd) : is_mapped(fd, pid, place))) {
		found = fd;
		fd = -1;
	} else if (mapped >= 0) {
		found = mapped;
		mapped = -1;
	}
	return found;
}
