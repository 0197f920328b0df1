/*
 * The input is a core file.  Whatever it is, it is refused with a sentence, or its threads are
 * read: no stack is longer than the most, and no file outside the core is opened.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "remote/open.h"
#include "remote/process.h"
#include "remote/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_threads(struct remote *remote)
{
	struct snapshot snapshot;
	struct error err;

	if (snapshot_read(remote, &snapshot, &err) < 0)
		return;
	for (size_t i = 0; i < snapshot.count; i++) {
		if (snapshot.threads[i].stack.count > STACK_FRAMES_MAX)
			abort();
	}
	snapshot_done(&snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("core", MFD_CLOEXEC);
	struct remote remote;
	struct error err;
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (remote_open_core(&(struct remote_core_options){ .path = path, .root = "/nowhere" },
			     &remote, &err) == 0) {
		read_threads(&remote);
		remote_close(&remote);
	} else if (*err.text == '\0') {
		abort();
	}
	close(fd);
	return 0;
}
