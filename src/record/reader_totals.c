/*
 * Sums the whole recording: the stored sums of its intervals, and the samples outside of
 * intervals.
 */
#include "record/reader_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "record/reader.h"

struct totals {
	struct recording_reader *reader;
	struct sums sums;
	struct error *err;
};

static int refuse_overflow(const struct totals *totals)
{
	return error_set(
		totals->err, -EBADMSG,
		"%s: damaged: its weights are impossible; copy it again from where it was "
		"recorded",
		totals->reader->probe.path);
}

static int add_sample(void *context, const struct recording_sample *sample)
{
	struct totals *totals = context;

	totals->sums.endings[sample->ending]++;
	return sums_add(&totals->sums, &(struct recording_sum){ .thread = sample->thread,
								.stack = sample->stack,
								.state = sample->state,
								.weight_ns = sample->weight_ns,
								.samples = 1 })
		       ? 0
		       : refuse_overflow(totals);
}

/* Adds the samples between intervals, and after the last one. */
static int add_gaps(struct totals *totals)
{
	struct recording_reader *reader = totals->reader;
	uint64_t next = 1, count = reader->counts[TABLE_SAMPLE_ROWS];
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_INTERVALS, 1, totals->err);

	while (scan_next(&scan, &rc)) {
		uint64_t first = scan_sample_id(&scan, 1);
		uint64_t last = scan_sample_id(&scan, 2);

		if (first < next || last < first)
			scan_damage(&scan, "covers samples that another one covers, or none");
		if (scan_check(&scan, &rc) && first > next)
			rc = reader_each_sample_of(reader, next, first - 1, add_sample, totals,
						   totals->err);
		next = last + 1;
	}
	rc = scan_end(&scan, rc);
	if (rc == 0 && next <= count)
		rc = reader_each_sample_of(reader, next, count, add_sample, totals,
					   totals->err);
	return rc;
}

static int add_sums(struct totals *totals)
{
	struct scan scan;
	int rc = scan_begin(&scan, totals->reader, TABLE_SUMS, 1, totals->err);

	while (scan_next(&scan, &rc)) {
		struct recording_sum sum = { .thread = scan_id(&scan, 2, TABLE_THREADS),
					     .stack = scan_id(&scan, 3, TABLE_STACKS),
					     .state = scan_u32(&scan, 4),
					     .weight_ns = scan_figure(&scan, 5),
					     .samples = scan_u64(&scan, 6) };

		if (scan_id(&scan, 1, TABLE_INTERVALS) == 0 || sum.thread == 0 ||
		    sum.state >= RECORDING_STATES || sum.weight_ns < 0)
			scan_damage(&scan, "cannot be");
		if (scan_check(&scan, &rc) && !sums_add(&totals->sums, &sum))
			rc = refuse_overflow(totals);
	}
	return scan_end(&scan, rc);
}

static int add_endings(struct totals *totals)
{
	struct scan scan;
	int rc = scan_begin(&scan, totals->reader, TABLE_ENDINGS, 1, totals->err);

	while (scan_next(&scan, &rc)) {
		uint32_t ending = scan_u32(&scan, 2);

		if (ending >= SUMS_ENDINGS)
			scan_damage(&scan, "has an unknown ending");
		if (scan_check(&scan, &rc))
			totals->sums.endings[ending] += scan_u64(&scan, 3);
	}
	return scan_end(&scan, rc);
}

static int load_totals(struct recording_reader *reader, struct error *err)
{
	struct totals totals = { .reader = reader, .err = err };

	if (reader->has_totals)
		return 0;
	int rc = add_sums(&totals);
	if (rc == 0)
		rc = add_endings(&totals);
	if (rc == 0)
		rc = add_gaps(&totals);
	if (rc == 0 && totals.sums.samples != reader->counts[TABLE_SAMPLE_ROWS])
		rc = error_set(err, -EBADMSG,
			       "%s: damaged: its sums do not agree with its samples",
			       reader->probe.path);
	if (rc < 0) {
		sums_done(&totals.sums);
		return rc;
	}
	reader->totals = totals.sums;
	reader->has_totals = true;
	return 0;
}

int recording_reader_each_sum(struct recording_reader *reader,
			      int (*visit)(void *context, const struct recording_sum *row),
			      void *context, struct error *err)
{
	int rc = load_totals(reader, err);

	for (size_t i = 0; i < reader->totals.count && rc == 0; i++)
		rc = visit(context, &reader->totals.rows[i]);
	return rc;
}

int recording_reader_each_ending(struct recording_reader *reader,
				 int (*visit)(void *context, uint32_t ending, uint64_t samples),
				 void *context, struct error *err)
{
	int rc = load_totals(reader, err);

	for (uint32_t ending = 0; ending < SUMS_ENDINGS && rc == 0; ending++)
		if (reader->totals.endings[ending] > 0)
			rc = visit(context, ending, reader->totals.endings[ending]);
	return rc;
}
