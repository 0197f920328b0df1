/* Reads a recording's samples, and fills in the weights that most of them omit (reader.h). */
#include "record/reader_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "record/reader.h"

/* The base of the times of samples from `first` on. */
struct batch {
	uint64_t first;
	int64_t base_ns;
};

struct batches {
	struct batch *rows;
	size_t count, capacity;
	size_t at; /* index of the next one */
};

static int load_batches(struct recording_reader *reader, struct batches *batches,
			struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_BATCHES, 1, err);

	while (scan_next(&scan, &rc)) {
		int64_t base_ns = scan_figure(&scan, 1);

		if (!scan_check(&scan, &rc))
			break;
		batches->rows = array_grow(batches->rows, batches->count, &batches->capacity,
					   sizeof *batches->rows);
		batches->rows[batches->count++] =
			(struct batch){ .first = scan.id, .base_ns = base_ns };
	}
	return scan_end(&scan, rc);
}

static int load_process_weights(struct recording_reader *reader, int64_t *weights,
				struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_PROCESSES, 1, err);

	while (scan_next(&scan, &rc)) {
		int64_t weight_ns = scan_figure(&scan, 8);

		if (scan_check(&scan, &rc))
			weights[scan.id - 1] = weight_ns;
	}
	return scan_end(&scan, rc);
}

int reader_load_weights(struct recording_reader *reader, struct error *err)
{
	struct scan scan;

	if (reader->weights != NULL)
		return 0;
	CLEANUP(freep)
	int64_t *processes = xreallocarray(NULL, (size_t)reader->counts[TABLE_PROCESSES] + 1,
					   sizeof *processes);
	CLEANUP(freep)
	int64_t *threads =
		xreallocarray(NULL, (size_t)reader->counts[TABLE_THREADS] + 1, sizeof *threads);
	int rc = load_process_weights(reader, processes, err);

	if (rc < 0)
		return rc;
	rc = scan_begin(&scan, reader, TABLE_THREADS, 1, err);
	while (scan_next(&scan, &rc)) {
		uint32_t process = scan_id(&scan, 1, TABLE_PROCESSES);

		if (process == 0)
			scan_damage(&scan, "has no process");
		if (scan_check(&scan, &rc))
			threads[scan.id - 1] = processes[process - 1];
	}
	rc = scan_end(&scan, rc);
	if (rc == 0) {
		reader->weights = threads;
		threads = NULL;
	}
	return rc;
}

static int64_t base_of(struct batches *batches, struct scan *scan)
{
	while (batches->at < batches->count && batches->rows[batches->at].first <= scan->id)
		batches->at++;
	if (batches->at > 0)
		return batches->rows[batches->at - 1].base_ns;
	scan_damage(scan, "belongs to no batch");
	return 0;
}

static struct recording_sample sample_of(struct scan *scan, struct batches *batches)
{
	uint32_t how = scan_u32(scan, 5);
	struct recording_sample sample = { .thread = scan_id(scan, 2, TABLE_THREADS),
					   .stack = scan_id(scan, 3, TABLE_STACKS),
					   .state = how % RECORDING_STATES,
					   .ending = how / RECORDING_STATES,
					   .weight_ns = scan_figure(scan, 4) };

	if (__builtin_add_overflow(base_of(batches, scan), scan_figure(scan, 1),
				   &sample.time_ns))
		scan_damage(scan, "has an impossible time");
	if (sample.thread == 0)
		scan_damage(scan, "has no thread");
	else if (sample.weight_ns == RECORDING_UNKNOWN)
		sample.weight_ns = scan->reader->weights[sample.thread - 1];
	if (sample.weight_ns < 0)
		scan_damage(scan, "has an impossible weight");
	if (sample.ending >= SUMS_ENDINGS)
		scan_damage(scan, "has an unknown ending");
	return sample;
}

int reader_each_sample_of(struct recording_reader *reader, uint64_t first, uint64_t last,
			  int (*visit)(void *context, const struct recording_sample *row),
			  void *context, struct error *err)
{
	struct batches batches = { 0 };
	struct scan scan = { 0 };
	int rc = reader_load_weights(reader, err);

	if (rc == 0)
		rc = load_batches(reader, &batches, err);
	if (rc == 0)
		rc = scan_begin(&scan, reader, TABLE_SAMPLE_ROWS, first, err);
	while (scan.id < last && scan_next(&scan, &rc)) {
		struct recording_sample sample = sample_of(&scan, &batches);

		if (scan_check(&scan, &rc))
			rc = visit(context, &sample);
	}
	free(batches.rows);
	return scan_end(&scan, rc);
}

int recording_reader_each_sample(struct recording_reader *reader,
				 int (*visit)(void *context,
					      const struct recording_sample *row),
				 void *context, struct error *err)
{
	return reader_each_sample_of(reader, 1, UINT64_MAX, visit, context, err);
}
