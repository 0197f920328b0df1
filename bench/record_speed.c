/*
 * record_speed - makes a recording of ten million samples and reads it back.
 *
 * Prints what writing cost, bytes a sample, and how long it takes to open the recording and
 * read its sums.  Usage: record_speed FILE [SAMPLES [STACKS [THREADS [beside]]]]; FILE is
 * replaced.  "beside": a thread stores what is made, as in a session, and what that leaves to
 * the one that makes it is printed too.
 * Built by `ninja tests/unit/record/record_speed`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "record/reader.h"
#include "record/writer.h"

#define PERIOD_NS 999983

struct plan {
	uint64_t samples;
	uint32_t stacks, threads;
	bool is_beside; /* a thread stores */
};

static double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A tree of stacks 2 to 40 deep; the last plan->stacks of its nodes are what samples hit. */
static uint32_t add_stacks(struct recording_writer *writer, const struct plan *plan)
{
	uint32_t id = 0, module, frame, parent = 0;

	recording_writer_add_module(
		writer, &(struct recording_module){ .path = "/usr/bin/program" }, &module);
	for (uint32_t i = 0; i < plan->stacks; i++) {
		recording_writer_add_frame(
			writer,
			&(struct recording_frame){ .module = module,
						   .address = 0x1000 + i * 12 },
			&frame);
		parent = i % 40 == 0 ? 0 : id;
		recording_writer_add_stack(
			writer, &(struct recording_stack){ .parent = parent, .frame = frame },
			&id);
	}
	return id;
}

static void add_threads(struct recording_writer *writer, const struct plan *plan)
{
	struct recording_process process = { .pid = 1000,
					     .name = "program",
					     .end_ns = RECORDING_UNKNOWN,
					     .period_ns = PERIOD_NS };
	uint32_t id;

	recording_writer_add_process(writer, &process, &id);
	for (uint32_t i = 0; i < plan->threads; i++)
		recording_writer_add_thread(writer,
					    &(struct recording_thread){ .process = 1,
									.tid = 1000 + (int)i,
									.name = "t" },
					    &id);
}

/* Few stacks are hot, as in programs: the square of an even number in [0, 1). */
static uint32_t pick_stack(uint64_t *state, uint32_t stacks)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	double even = (double)(*state >> 33) / (double)(1u << 31);

	return 1 + (uint32_t)(even * even * stacks);
}

/* A second of time goes by every threads * 1,000 samples; the commits follow it. */
static int write_all(struct recording_writer *writer, const struct plan *plan)
{
	uint64_t random = 1, per_second = plan->threads * 1000ull;
	uint32_t stacks = add_stacks(writer, plan);
	int rc = 0;

	add_threads(writer, plan);
	for (uint64_t i = 0; i < plan->samples && rc == 0; i++) {
		rc = recording_writer_add_sample(
			writer, &(struct recording_sample){
					.time_ns = (int64_t)(i * PERIOD_NS / plan->threads),
					.thread = 1 + (uint32_t)(i % plan->threads),
					.stack = pick_stack(&random, stacks),
					.weight_ns = PERIOD_NS });
		if (rc == 0 && i % per_second == 0)
			rc = recording_writer_commit(writer);
		if (rc == 0 && i % 1000 == 0)
			rc = recording_writer_tick(writer);
	}
	return rc;
}

static int count_sum(void *context, const struct recording_sum *sum)
{
	*(uint64_t *)context += sum->samples;
	return 0;
}

static int measure_writing(const char *path, const struct plan *plan, struct error *err)
{
	struct recording_writer *writer;
	double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	double own_cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
	int rc = recording_writer_create(path, &writer, err);

	if (rc == 0 && plan->is_beside)
		rc = recording_writer_start_thread(writer);
	if (rc < 0)
		return rc;
	write_all(writer, plan);
	own_cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID) - own_cpu;
	if (plan->is_beside)
		printf("made: %.0f ns of CPU each in the thread that makes them\n",
		       own_cpu * 1e9 / (double)plan->samples);
	rc = recording_writer_close(writer, err);
	wall = seconds_of(CLOCK_MONOTONIC) - wall;
	cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("written: %" PRIu64 " samples in %.2f s, %.0f a second, %.0f ns of CPU each\n",
	       plan->samples, wall, (double)plan->samples / wall,
	       cpu * 1e9 / (double)plan->samples);
	return rc;
}

static int measure_reading(const char *path, const struct plan *plan, struct error *err)
{
	CLEANUP(recording_reader_closep) struct recording_reader *reader = NULL;
	uint64_t samples = 0;
	struct stat st;
	double wall = seconds_of(CLOCK_MONOTONIC);
	int rc = recording_reader_open(path, &reader, err);

	if (rc == 0)
		rc = recording_reader_each_sum(reader, count_sum, &samples, err);
	if (rc < 0)
		return rc;
	printf("opened and summed: %" PRIu64 " samples in %.3f s\n", samples,
	       seconds_of(CLOCK_MONOTONIC) - wall);
	if (stat(path, &st) == 0)
		printf("file: %.1f MB, %.2f bytes a sample\n", (double)st.st_size / 1e6,
		       (double)st.st_size / (double)plan->samples);
	return samples == plan->samples ? 0
					: error_set(err, -1, "%s: samples are missing", path);
}

int main(int argc, char **argv)
{
	struct error err;
	struct plan plan = { .samples = 10000000, .stacks = 4000, .threads = 8 };

	if (argc < 2)
		return 2;
	if (argc > 2)
		plan.samples = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		plan.stacks = (uint32_t)strtoul(argv[3], NULL, 10);
	if (argc > 4)
		plan.threads = (uint32_t)strtoul(argv[4], NULL, 10);
	plan.is_beside = argc > 5 && strcmp(argv[5], "beside") == 0;
	unlink(argv[1]);
	int rc = measure_writing(argv[1], &plan, &err);
	if (rc == 0)
		rc = measure_reading(argv[1], &plan, &err);
	if (rc < 0)
		fprintf(stderr, "record_speed: %s\n", err.text);
	return rc < 0;
}
