/*
 * Arbitrary bytes in a table of traced calls: what an agent, or a program that scribbles over it,
 * could leave there for the recorder to read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/ticks.h"
#include "abi/trace.h"
#include "base/error.h"
#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/samples/pump.h"
#include "collect/calls/tree_reader.h"
#include "collect/processes/known_calls.h"
#include "record/writer.h"

#define THREADS 2
#define CHUNKS  2

/* What the bytes are put over: the beginning of each part, and the first chunks that are used. */
struct scribbled {
	struct trace_thread threads[THREADS];
	u32 owners[CHUNKS];
	struct trace_node nodes[CHUNKS * TRACE_CHUNK_NODES];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct recording_writer *make_writer(void)
{
	char path[] = "/tmp/fuzz-call-tree-XXXXXX";
	const struct recording_process process = { .pid = 1, .name = "fuzzed" };
	struct recording_writer *writer;
	uint32_t row;
	int fd = mkstemp(path);

	if (fd < 0)
		abort();
	close(fd);
	unlink(path);
	if (recording_writer_create(path, &writer, NULL) < 0 ||
	    recording_writer_add_process(writer, &process, &row) < 0)
		abort();
	/* It lives on without a name. */
	unlink(path);
	return writer;
}

static struct trace_area *make_area(const uint8_t *data, size_t size)
{
	struct trace_area *area = mmap(NULL, sizeof *area, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct scribbled bytes = { .owners = { 1, 2 } };

	if (area == MAP_FAILED)
		abort();
	memcpy(&bytes, data, size < sizeof bytes ? size : sizeof bytes);
	memcpy(area->threads, bytes.threads, sizeof bytes.threads);
	memcpy(area->owners + 1, bytes.owners, sizeof bytes.owners);
	memcpy(area->nodes + TRACE_CHUNK_NODES, bytes.nodes, sizeof bytes.nodes);
	return area;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct recording_writer *writer;
	const struct call_tree_reader_terms terms = { .start_ns = monotonic_ns() - 1000000,
						      .start_ticks = ticks_now() - 1000000,
						      .has_sideband = true };
	struct trace_area *area = make_area(data, size);
	struct image *image = image_new(1);
	struct pump pump;

	if (writer == NULL)
		writer = make_writer();
	image->row = 1;
	image->calls = known_calls_new(area);
	image->mappings = mappings_new();
	pump_init(&pump, writer, 0);
	call_tree_reader_read(image, &pump, &terms, false);
	call_tree_reader_read(image, &pump, &terms, true);
	pump_done(&pump);
	image_free(image);
	munmap(area, sizeof *area);
	return 0;
}
