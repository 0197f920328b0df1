/*
 * Reads samples by time: every sample of a short recording; of a long one the sums of its
 * intervals, if need be of only some of them.
 */
#include "record/reader_state.h"

#include "base/memory.h"
#include "record/reader.h"

enum {
	SAMPLES_MAX = 1000000, /* reading these takes a third of a second */
	INTERVALS_MIN = 64,
};

struct sequence {
	int (*visit)(void *context, const struct recording_sample *row, uint64_t samples);
	void *context;
};

static int add_sample(void *context, const struct recording_sample *sample)
{
	const struct sequence *sequence = context;

	return sequence->visit(sequence->context, sample, 1);
}

/* The middle of each interval, by id - 1. */
static int read_times(struct recording_reader *reader, int64_t *times, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_INTERVALS, 1, err);

	while (scan_next(&scan, &rc)) {
		const int64_t from = scan_figure(&scan, 3), to = scan_figure(&scan, 4);

		if (scan_check(&scan, &rc))
			times[scan.id - 1] = from / 2 + to / 2;
	}
	return scan_end(&scan, rc);
}

static int each_sum(struct recording_reader *reader, const struct sequence *sequence,
		    const int64_t *times, struct error *err)
{
	const uint64_t nth = reader->counts[TABLE_SUMS] / SAMPLES_MAX + 1;
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_SUMS, 1, err);

	while (scan_next(&scan, &rc)) {
		const uint32_t interval = scan_id(&scan, 1, TABLE_INTERVALS);
		const struct recording_sample sum = {
			.thread = scan_id(&scan, 2, TABLE_THREADS),
			.stack = scan_id(&scan, 3, TABLE_STACKS),
			.state = scan_u32(&scan, 4),
			.weight_ns = scan_figure(&scan, 5),
			.time_ns = interval ? times[interval - 1] : 0
		};
		const uint64_t samples = scan_u64(&scan, 6);

		if (interval == 0 || sum.thread == 0 || sum.weight_ns < 0)
			scan_damage(&scan, "cannot be");
		if (scan_check(&scan, &rc) && interval % nth == 0)
			rc = sequence->visit(sequence->context, &sum, samples);
	}
	return scan_end(&scan, rc);
}

int recording_reader_each_step(struct recording_reader *reader,
			       int (*visit)(void *context, const struct recording_sample *row,
					    uint64_t samples),
			       void *context, struct error *err)
{
	const uint64_t samples = reader->counts[TABLE_SAMPLE_ROWS];
	struct sequence sequence = { visit, context };

	if (samples <= SAMPLES_MAX || reader->counts[TABLE_INTERVALS] < INTERVALS_MIN)
		return reader_each_sample_of(reader, 1,
					     samples < SAMPLES_MAX ? samples : SAMPLES_MAX,
					     add_sample, &sequence, err);
	CLEANUP(freep)
	int64_t *times = xzalloc(((size_t)reader->counts[TABLE_INTERVALS] + 1) * sizeof *times);
	int rc = read_times(reader, times, err);

	return rc < 0 ? rc : each_sum(reader, &sequence, times, err);
}
