#include "collect/enter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "abi/ring.h"
#include "base/memory.h"
#include "collect/hello_server.h"
#include "collect/image.h"
#include "collect/perf_events.h"

/*
 * 128 Ki words are 1 MiB, of which a page costs memory once it is written: 18,700 samples,
 * most of a second at 20,000 Hz.
 */
#define RING_WORD_COUNT (128U * 1024)
#define RING_BYTES      (RING_HEADER_BYTES + RING_WORD_COUNT * sizeof(u64))

/* The ring's memory, sealed at its size so that nobody can make us fault. */
static int ring_make(struct image *image, const struct enter_terms *terms)
{
	int fd = memfd_create("fathom-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, RING_BYTES) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	struct ring_header *ring =
		mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	ring->magic = RING_MAGIC;
	ring->version = RING_VERSION;
	ring->word_count = RING_WORD_COUNT;
	ring->period_ns = image->period_ns;
	ring->epoch = image->serial;
	/*
	 * Rather too little, which the recorder sees and mends, than too much, which it
	 * cannot.
	 */
	ring->switch_cost_ns = terms->switch_cost_ns * 3 / 4;
	ring->flags = (terms->clock == CLOCK_KIND_USER ? RING_CLOCK_USER : 0) |
		      (terms->is_user_mode_only ? RING_USER_MODE_ONLY : 0) |
		      (terms->has_sigtrap ? 0 : RING_TIMER);
	image->ring = ring;
	image->ring_bytes = RING_BYTES;
	image->ring_words = RING_WORD_COUNT;
	return fd;
}

static void ring_drop(struct image *image)
{
	munmap(image->ring, image->ring_bytes);
	image->ring = NULL;
}

/* The event that samples a thread; where timers do, one that counts for the account. */
static int thread_event_open(int tid, const struct image *image,
			     const struct enter_terms *terms)
{
	if (terms->has_sigtrap)
		return perf_open_sampler(tid, image->period_ns, terms->is_user_mode_only);
	return perf_open_counter(tid, false);
}

/* Opens the event on each thread there is; later ones inherit it. */
static int thread_events_open(struct image *image, const struct handshake_hello *hello,
			      const struct enter_terms *terms)
{
	char path[64];
	size_t capacity = 0, older = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)image->pid);
	DIR *tasks = opendir(path);
	const struct dirent *entry;

	if (tasks == NULL)
		return -errno;
	while ((entry = readdir(tasks)) != NULL) {
		const int tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		int fd = thread_event_open(tid, image, terms);

		if (fd < 0 && fd != -ESRCH) {
			closedir(tasks);
			return fd;
		}
		if (fd < 0)
			continue;
		image->event_fds = array_grow(image->event_fds, image->event_count, &capacity,
					      sizeof *image->event_fds);
		image->event_fds[image->event_count++] = fd;
		if ((u32)tid != hello->tid && older < RING_OLDER_THREADS)
			image->ring->older_tids[older++] = (u32)tid;
	}
	closedir(tasks);
	return image->event_count > 0 ? 0 : -ESRCH;
}

static int image_open(struct image *image, const struct handshake_hello *hello,
		      const struct enter_terms *terms)
{
	image->period_ns = perf_choose_period(terms->rate_hz, image->serial);
	int ring_fd = ring_make(image, terms);

	if (ring_fd < 0)
		return ring_fd;
	int rc = terms->has_counters ? thread_events_open(image, hello, terms) : 0;

	if (rc < 0 && terms->has_sigtrap) {
		image_stop_sampling(image);
		ring_drop(image);
		close(ring_fd);
		return rc;
	}
	return ring_fd;
}

static void image_leave_out(struct image *image, const char *reason)
{
	image->state = IMAGE_LEFT_OUT;
	image->unentered_reason = reason;
	image->period_ns = 0;
}

static void answer_leave(int connection)
{
	const struct handshake_answer answer = { .magic = HANDSHAKE_MAGIC,
						 .verdict = HANDSHAKE_LEAVE };

	hello_server_answer(connection, &answer, -1);
}

void enter_image(struct image *image, const struct handshake_hello *hello, int connection,
		 const struct enter_terms *terms)
{
	const struct handshake_answer answer = { .magic = HANDSHAKE_MAGIC,
						 .verdict = HANDSHAKE_SAMPLE,
						 .ring_bytes = RING_BYTES };

	if (terms->no_children && image->pid != terms->command_pid) {
		answer_leave(connection);
		image_leave_out(image, "--no-children");
		return;
	}
	int ring_fd = image_open(image, hello, terms);

	if (ring_fd < 0) {
		answer_leave(connection);
		image_leave_out(image, ring_fd == -EMFILE || ring_fd == -ENFILE
					       ? "no file descriptors left for its events"
				       : ring_fd == -EACCES || ring_fd == -EPERM
					       ? "the kernel does not let us watch it"
					       : "its sampling events could not be opened");
		return;
	}
	int rc = hello_server_answer(connection, &answer, ring_fd);

	close(ring_fd);
	if (rc < 0) {
		image_stop_sampling(image);
		ring_drop(image);
		image_leave_out(image, "the recorder was too late to answer it");
		return;
	}
	image->state = IMAGE_ENTERED;
	image->unentered_reason = NULL;
	image->pidfd = (int)syscall(SYS_pidfd_open, image->pid, 0);
}
