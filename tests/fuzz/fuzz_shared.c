/*
 * A program that owns all it shares with the recorder: header, records and a trace's area, which
 * it writes between rounds.  Behind them the image ends and the recording is closed; whatever was
 * written, it can be loaded, and stands for no more CPU time than there was.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "abi/ticks.h"
#include "abi/trace.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "base/notes.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/processes/ring_view.h"
#include "collect/session/session.h"
#include "collect/session/state.h"
#include "collect/calls/tree_reader.h"
#include "collect/processes/known_calls.h"
#include "load/load.h"
#include "profile/profile.h"
#include "record/writer.h"

#define WORDS      1024
#define PERIOD_NS  1000000
#define STEPS_MAX  256
#define ROUNDS_MAX 8
/* As long ago the session began, and so much the process has burned before it was entered. */
#define SESSION_NS 1000000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where figures end, change their sign or wrap; the last ones are sound. */
static const u64 edges[] = {
	0,
	1,
	UINT64_MAX,
	UINT64_MAX - 99,
	INT64_MAX,
	(u64)INT64_MAX + 1,
	1ULL << 62,
	1ULL << 59,
	1ULL << 50,
	1ULL << 40,
	UINT32_MAX,
	1ULL << 32,
	1ULL << 31,
	0x7fffffff7fffffff,
	0x0000000100000001,
	100,
	1000,
	PERIOD_NS,
	0x10050,
	RING_INTERPRETED | 1ULL << RING_INSTRUCTION_BITS,
	TRACE_OUTSIDE,
	TRACE_UNLOADED | 1000,
};

enum { EDGES = sizeof edges / sizeof *edges };

struct shared {
	struct bytes bytes;
	struct session session;
	struct session_options options;
	struct session_result result;
	struct image *image;
	struct trace_area *area;
	u64 words; /* before anything was written */
	int rounds;
};

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static const char *recording_path(void)
{
	static char path[64];

	if (!*path) {
		const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

		snprintf(path, sizeof path, "%s/fathom-fuzz-shared-%d", folder, (int)getpid());
	}
	return path;
}

/* One for all inputs: an area is large. */
static char *memory_of_all(size_t bytes)
{
	static char *memory;

	if (memory == NULL)
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	check(memory != MAP_FAILED && madvise(memory, bytes, MADV_DONTNEED) == 0);
	return memory;
}

/* Half of the bytes are an edge's number. */
static u64 take_figure(struct bytes *b)
{
	const uint8_t choice = bytes_u8(b);

	if (choice < 0x80)
		return edges[choice % EDGES];
	if (choice < 0xc0)
		return choice - 0x80U;
	return choice < 0xe0 ? monotonic_ns() - bytes_u16(b) * 100000ULL : bytes_u64(b);
}

static void write_header(struct shared *shared)
{
	char *header = (char *)shared->image->ring;
	const size_t at =
		bytes_u16(&shared->bytes) % (sizeof(struct ring_header) / sizeof(u64));
	const u64 figure = take_figure(&shared->bytes);

	memcpy(header + at * sizeof figure, &figure, sizeof figure);
}

static void write_word(struct shared *shared)
{
	u64 *words = ring_words(shared->image->ring);
	const size_t at = bytes_u16(&shared->bytes) % WORDS;

	words[at] = take_figure(&shared->bytes);
}

static void move_head(struct shared *shared)
{
	shared->image->ring->head += bytes_u8(&shared->bytes);
}

/* As an agent commits it, with any figures. */
static void commit(struct shared *shared)
{
	struct ring_header *ring = shared->image->ring;
	const u8 type = (u8)(1 + bytes_u8(&shared->bytes) % 7);
	const u8 more = bytes_u8(&shared->bytes) % 24;
	const u16 count = type == RING_SAMPLE && more > 2 ? RING_WORDS(struct ring_sample)
							  : (u16)(1 + more);
	u64 position;

	if (ring_reserve(ring, WORDS, count, &position) < 0)
		return;
	for (u16 i = 1; i < count; i++)
		ring_put(ring, WORDS, position, i, take_figure(&shared->bytes));
	ring_commit(ring, WORDS, position, count, type);
}

/* A figure before the nodes: statuses, counts, costs, the first threads, the first owners. */
static void write_area(struct shared *shared)
{
	const uint8_t part = bytes_u8(&shared->bytes);
	size_t at = offsetof(struct trace_area, foreign_threads);
	size_t bytes = offsetof(struct trace_area, threads) - at;

	if (part % 4 == 1) {
		at = offsetof(struct trace_area, threads);
		bytes = 4 * sizeof(struct trace_thread);
	} else if (part % 4 == 2) {
		at = offsetof(struct trace_area, owners);
		bytes = 4 * sizeof(u64);
	} else if (part % 4 == 3) {
		at = 0;
		bytes = sizeof(u64);
	}
	at += bytes_u16(&shared->bytes) % (bytes / sizeof(u64)) * sizeof(u64);
	const u64 figure = take_figure(&shared->bytes);

	memcpy((char *)shared->area + at, &figure, sizeof figure);
}

static void write_node(struct shared *shared)
{
	struct bytes *b = &shared->bytes;
	const u32 number = bytes_u8(b);
	struct trace_node *node = &shared->area->nodes[TRACE_CHUNK_NODES + number];
	struct trace_overhead *overhead = &shared->area->overheads[TRACE_CHUNK_NODES + number];

	node->parent =
		bytes_u8(b) == 0xff ? (u32)take_figure(b) : TRACE_CHUNK_NODES + bytes_u8(b) % 8;
	node->depth = bytes_u8(b) % 8 == 7 ? TRACE_DEEPEST : bytes_u8(b);
	node->kind = bytes_u8(b);
	node->key = take_figure(b);
	node->identity = take_figure(b);
	node->calls = take_figure(b);
	node->self_ticks = take_figure(b);
	node->shortest_ticks = take_figure(b);
	node->longest_ticks = take_figure(b);
	overhead->misses = take_figure(b);
	overhead->uncounted[0] = take_figure(b);
}

/* Without the sideband, and without what waits for time to go by. */
static void make_round(struct shared *shared)
{
	struct session *session = &shared->session;
	const struct call_tree_reader_terms terms = { .start_ns = session->start_ns,
						      .start_ticks = session->start_ticks,
						      .has_sideband = shared->rounds % 2 == 0 };

	if (shared->rounds++ >= ROUNDS_MAX)
		return;
	pump_begin_round(&session->pump);
	image_mark(shared->image, pump_mark(shared->image));
	pump_image(&session->pump, shared->image, shared->image->ring_mark, 0);
	account_check_switches(shared->image, 0);
	if (shared->image->calls != NULL) {
		call_tree_reader_is_urgent(shared->image->calls);
		call_tree_reader_read(shared->image, &session->pump, &terms, false);
	}
}

static void (*const steps[])(struct shared *shared) = {
	write_header, write_word, move_head, commit, commit, write_area, write_node, make_round,
};

static void map_module(struct shared *shared)
{
	struct module_place place = { .start = 0x10000, .end = 0x100000, .to_ns = UINT64_MAX };

	recording_writer_add_module(
		shared->session.writer,
		&(struct recording_module){ .kind = MODULE_KIND_JIT, .path = "[anon]" },
		&place.module);
	mappings_add(shared->image->mappings, &place);
}

static void make_image(struct shared *shared, uint8_t choice)
{
	const size_t bytes = RING_HEADER_BYTES + WORDS * sizeof(u64);
	struct image *image = shared->image = image_new(getpid());

	recording_writer_add_process(
		shared->session.writer,
		&(struct recording_process){ .pid = image->pid, .name = "shared" },
		&image->row);
	memcpy(image->name, "shared", sizeof "shared");
	image->period_ns = PERIOD_NS;
	image->start_ns = shared->session.start_ns;
	image->state = IMAGE_ENTERED;
	image->opened_cpu_ns = cpu_meter_process_ns(image->pid);
	image->rusage_ns = choice & 2 ? image->opened_cpu_ns + PERIOD_NS : 0;
	image->languages = choice & 4 ? 1U << RECORDING_LANGUAGE_PYTHON : 0;
	image->mappings = mappings_new();
	map_module(shared);
	image->ring = (void *)memory_of_all(bytes + sizeof(struct trace_area));
	image->ring_bytes = bytes;
	image->ring_words = WORDS;
	*image->ring = (struct ring_header){ .magic = RING_MAGIC,
					     .version = RING_VERSION,
					     .word_count = WORDS,
					     .period_ns = PERIOD_NS,
					     .switch_cost_ns = 1000 };
	ring_view_begin(image);
	shared->area = (void *)((char *)image->ring + bytes);
	if (choice & 1) {
		shared->area->ticks_per_ns = choice & 8 ? 1ULL << 32 : 0;
		image->calls = known_calls_new(shared->area);
	}
}

static void begin(struct shared *shared, uint8_t choice)
{
	struct session *session = &shared->session;
	const bool is_user_clock = (choice & 0x30) == 0x30;

	unlink(recording_path());
	check(recording_writer_create(recording_path(), &session->writer, NULL) == 0);
	shared->options.is_trace = choice & 1;
	session->options = &shared->options;
	session->result = &shared->result;
	session->start_ns = monotonic_ns() - SESSION_NS;
	session->start_ticks = ticks_now() - SESSION_NS;
	session->ability.can_count = true;
	session->account_terms = (struct account_terms){
		.session_start_ns = session->start_ns,
		.is_user_mode_only = choice & 0x20,
		.is_trace = shared->options.is_trace,
		.is_user_clock = is_user_clock,
	};
	tree_init(&session->tree, session->writer, session->start_ns);
	interpreters_init(&session->interpreters, session->writer);
	pump_init(&session->pump, session->writer, session->start_ns);
	session->pump.rows.epochs.limit = 16;
	make_image(shared, choice);
}

/* What the image ended with is bounded, and its recording is sound. */
static void end(struct shared *shared)
{
	struct session *session = &shared->session;
	struct image *image = shared->image;
	struct error err = { "" };

	image->is_ended = true;
	image->end_ns = monotonic_ns();
	session_image_ended(session, image);
	const uint64_t burned_ns = cpu_meter_process_ns(image->pid) - image->opened_cpu_ns;

	/* At the end it is the clock on the wall that says, on all processors. */
	check(image->sampled_ns <=
	      2 * burned_ns + 2ULL * SESSION_NS * (uint64_t)get_nprocs_conf());
	sampling_cost_note(&session->cost,
			   &(struct sampling_cost_terms){ .wall_ns = SESSION_NS,
							  .ticks = SESSION_NS,
							  .unmeasured_ns = 1000 },
			   session->writer);
	/* It is this file's alone. */
	image->ring = NULL;
	image_free(image);
	interpreters_done(&session->interpreters);
	pump_done(&session->pump);
	tree_close(&session->tree);
	check(recording_writer_close(session->writer, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shared shared = { .bytes = bytes_of(data, size) };
	struct error err = { "" };

	begin(&shared, bytes_u8(&shared.bytes));
	for (int i = 0; i < STEPS_MAX && bytes_left(&shared.bytes) != 0; i++)
		steps[bytes_u8(&shared.bytes) % (sizeof steps / sizeof *steps)](&shared);
	end(&shared);

	CLEANUP(notes_freep) struct notes *notes = notes_new();
	CLEANUP(profile_freep) struct profile *profile = NULL;

	if (load_recording(recording_path(), NULL, notes, &profile, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	unlink(recording_path());
	return 0;
}
