#include "collect/processes/generated_code.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "base/regular_file.h"
#include "collect/processes/image.h"
#include "collect/system/process_stat.h"
#include "record/writer.h"

/* A large JIT's map has some megabytes. */
#define MAX_COPY_BYTES (64 << 20)
/* File times come from a clock that ticks at least a hundred times a second; with a margin. */
#define FILE_CLOCK_NS 20000000LL

static int64_t in_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* Stores the process's user, which may have changed since the handshake. */
void generated_code_begin(struct image *image)
{
	struct process_status status;

	if (process_status_read(image->pid, &status))
		image->generating_uid = status.user;
}

static bool is_its_own(const struct stat *about, const struct image *image)
{
	return about->st_uid == 0 || about->st_uid == image->uid ||
	       about->st_uid == image->generating_uid;
}

static bool is_older(const struct stat *about, const struct image *image)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	const int64_t age_ns = in_ns(&now) - in_ns(&about->st_mtim);
	const int64_t process_age_ns = (int64_t)(monotonic_ns() - image->start_ns);

	return age_ns > process_age_ns + FILE_CLOCK_NS;
}

static void copy(int fd, size_t size, const char *path, struct recording_writer *writer,
		 const struct image *image)
{
	CLEANUP(freep) char *data = xmalloc(size + 1);
	size_t len = 0;

	while (len < size) {
		const ssize_t got = read(fd, data + len, size - len);

		if (got <= 0)
			break;
		len += (size_t)got;
	}
	if (len > 0)
		recording_writer_add_file(writer, image->row, path, data, len);
}

void generated_code_copy(struct generated_code *code, struct recording_writer *writer,
			 const struct image *image)
{
	char path[64];
	struct stat about;

	if (image->jit_module == 0)
		return;
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)image->pid);
	CLEANUP(closep) int fd = regular_file_open_unlinked(path, &about);

	if (fd < 0 || about.st_size > MAX_COPY_BYTES)
		return;
	if (!is_its_own(&about, image))
		code->foreign++;
	else if (is_older(&about, image))
		code->stale++;
	else
		copy(fd, (size_t)about.st_size, path, writer, image);
}

static void write_note(struct recording_writer *writer, uint64_t count, const char *why)
{
	if (count == 0)
		return;
	CLEANUP(freep)
	char *note = xasprintf("generated code of %" PRIu64
			       " process%s has no names: /tmp/perf-PID.map %s",
			       count, count == 1 ? "" : "es", why);

	recording_writer_note(writer, note);
}

void generated_code_note(const struct generated_code *code, struct recording_writer *writer)
{
	write_note(writer, code->foreign, "belongs to another user than the process");
	write_note(writer, code->stale, "is older than the process");
}
