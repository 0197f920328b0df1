/*
 * Arbitrary bytes in a ring: what an agent, or a program that scribbles over it, could leave
 * there for the recorder to read.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/samples/pump.h"
#include "collect/processes/ring_view.h"
#include "record/writer.h"

#define WORDS 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct recording_writer *make_writer(void)
{
	char path[] = "/tmp/fuzz-ring-XXXXXX";
	struct recording_writer *writer;
	int fd = mkstemp(path);

	if (fd < 0)
		abort();
	close(fd);
	unlink(path);
	if (recording_writer_create(path, &writer, NULL) < 0)
		abort();
	/* It lives on without a name. */
	unlink(path);
	return writer;
}

static struct image *make_image(void)
{
	struct image *image = image_new(1);

	image->row = 1;
	image->period_ns = 1000;
	image->languages = 1U << RECORDING_LANGUAGE_PYTHON | 1U << RECORDING_LANGUAGE_RUBY;
	image->mappings = mappings_new();
	mappings_add(image->mappings, &(struct module_place){ .start = 0x1000,
							      .end = 0x100000,
							      .to_ns = UINT64_MAX,
							      .has_file = true,
							      .module = 1 });
	image->ring_bytes = RING_HEADER_BYTES + WORDS * sizeof(u64);
	image->ring = mmap(NULL, image->ring_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image->ring == MAP_FAILED)
		abort();
	image->ring_words = WORDS;
	image->ring->word_count = WORDS;
	ring_view_begin(image);
	return image;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct recording_writer *writer;
	struct image *image = make_image();
	struct pump pump;
	const size_t len = size < WORDS * sizeof(u64) ? size : WORDS * sizeof(u64);

	if (writer == NULL)
		writer = make_writer();
	memcpy(ring_words(image->ring), data, len);
	image->ring->head = size > WORDS ? WORDS : size;
	pump_init(&pump, writer, 0);
	/* Whatever comes, twice over. */
	pump.rows.epochs.limit = 4;
	pump_begin_round(&pump);
	pump_image(&pump, image, pump_mark(image), 0);
	pump_begin_round(&pump);
	pump_image(&pump, image, pump_mark(image), 1);
	if (!image->trust.is_lost && image->ring_tail != image->ring->head)
		abort();
	pump_done(&pump);
	image_free(image);
	return 0;
}
