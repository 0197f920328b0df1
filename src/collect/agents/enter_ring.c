#include "collect/agents/enter_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/ring.h"
#include "abi/ring_terms.h"
#include "abi/ticks.h"
#include "abi/trace.h"
#include "base/monotonic.h"
#include "collect/agents/enter_terms.h"
#include "collect/processes/image.h"
#include "collect/processes/known_calls.h"
#include "collect/processes/ring_memory.h"
#include "collect/agents/ring_owner.h"
#include "collect/processes/ring_view.h"

/*
 * 16 MiB for a trace.  Only names are sent, each once, but thousands within milliseconds
 * (imported modules), and the recorder may not run meanwhile: 20,000 Python functions take 2.5
 * MiB.
 */
#define TRACE_RING_WORD_COUNT (2U * 1024 * 1024)

/* Ticks of the machine's counter in ns nanoseconds, by its rate in the session so far. */
static uint64_t ticks_in(uint64_t ns, const struct enter_terms *terms)
{
	const double gone_ns = (double)(monotonic_ns() - terms->start_ns);
	const double gone_ticks = (double)(ticks_now() - terms->start_ticks);

	return gone_ns == 0 ? 0 : (uint64_t)((double)ns * gone_ticks / gone_ns);
}

/*
 * Makes a file of the ring's size, sealed so that no process can truncate it and make us fault;
 * or returns a negative errno.
 */
static int make_file(uint64_t bytes)
{
	int fd = memfd_create("fathom-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)bytes) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	return fd;
}

bool enter_has_sigtrap(const struct image *image, const struct enter_terms *terms)
{
	return terms->has_sigtrap && !image->trigger.begins_by_timers;
}

bool enter_is_user_mode_only(const struct image *image, const struct enter_terms *terms)
{
	return terms->is_user_mode_only || image->is_attached;
}

static bool has_kernel_ticks(const struct image *image, const struct enter_terms *terms)
{
	return !terms->is_trace && (terms->has_kernel_ticks ||
				    (image->is_attached && terms->clock == CLOCK_KIND_CPU));
}

int enter_ring_make(struct image *image, const struct enter_terms *terms)
{
	const uint64_t trace_bytes = terms->is_trace ? sizeof(struct trace_area) : 0;
	uint64_t words = terms->is_trace ? TRACE_RING_WORD_COUNT
					 : ring_memory_words(terms->rate_hz, terms->processors);
	int fd = make_file(ring_words_end(words) + trace_bytes);

	while (fd == -EFBIG && words > RING_MEMORY_WORDS_LEAST) {
		words /= 2;
		fd = make_file(ring_words_end(words) + trace_bytes);
	}
	if (fd < 0)
		return fd;
	const uint64_t bytes = ring_words_end(words) + trace_bytes;
	struct ring_header *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	ring->magic = RING_MAGIC;
	ring->version = RING_VERSION;
	ring->word_count = words;
	ring->period_ns = image->period_ns;
	ring->period_ticks = ticks_in(image->period_ns, terms);
	ring->epoch = image->epoch_base ^ image->serial;
	/*
	 * Rather too low, which the recorder detects and corrects (account_check_switches()),
	 * than too high, which it cannot.
	 */
	ring->switch_cost_ns =
		enter_has_sigtrap(image, terms) ? terms->switch_cost_ns * 3 / 4 : 0;
	ring->flags = (terms->clock == CLOCK_KIND_USER ? RING_CLOCK_USER : 0) |
		      (enter_is_user_mode_only(image, terms) ? RING_USER_MODE_ONLY : 0) |
		      (has_kernel_ticks(image, terms) ? RING_KERNEL_TICKS : 0) |
		      (enter_has_sigtrap(image, terms) || terms->is_trace ? 0 : RING_TIMER) |
		      (terms->is_trace ? RING_TRACE : 0) |
		      (terms->no_builtins ? RING_NO_BUILTINS : 0) |
		      (terms->has_blocks ? RING_BLOCKS : 0) |
		      (terms->is_paused ? RING_PAUSED : 0);
	ring->trace_offset = terms->is_trace ? ring_words_end(words) : 0;
	ring->bytes = bytes;
	ring->wishes = terms->has_sideband && !image->lacks_sideband ? 0 : RING_WISH_IMAGES;
	ring_owner_write(ring, terms->recorder_start);
	image->ring = ring;
	image->ring_bytes = bytes;
	image->ring_words = words;
	ring_view_begin(image);
	return fd;
}

void enter_ring_drop(struct image *image)
{
	/* Its call tree is in the same memory. */
	known_calls_free(image->calls);
	image->calls = NULL;
	munmap(image->ring, image->ring_bytes);
	image->ring = NULL;
}
