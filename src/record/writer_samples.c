/*
 * Samples wait in memory and go into the database at the next commit, a batch at a time: that
 * keeps the collector's caches its own and lets times be counted from the batch's first
 * sample, in four bytes.  Sums are kept of each interval, so that a report of a long
 * recording need not read every sample.
 */
#include "record/writer_state.h"

#include <errno.h>

#include "base/memory.h"

/* Distinct sums kept in memory at most: about 100 MB. */
#define SUMS_LIMIT (1u << 20)

int recording_writer_add_sample(struct recording_writer *writer,
				const struct recording_sample *sample)
{
	if (writer->failure_rc < 0)
		return writer->failure_rc;
	if (sample->thread == 0 || sample->thread > writer->thread_count ||
	    sample->stack > writer->last_id[TABLE_STACKS] ||
	    sample->state >= RECORDING_STATES || sample->ending >= SUMS_ENDINGS ||
	    sample->weight_ns < 0)
		return -EINVAL;
	writer->samples[writer->sample_count++] = *sample;
	return writer->sample_count < WRITER_BUFFERED_SAMPLES ? 0
							      : writer_flush_samples(writer);
}

/* What NULL stands for is settled by a process's first sample and never changes. */
static int64_t sample_weight_of(struct recording_writer *writer, uint32_t id, int64_t weight_ns)
{
	struct writer_process *process = &writer->processes[id - 1];

	if (process->sample_weight_ns != RECORDING_UNKNOWN)
		return process->sample_weight_ns;
	process->sample_weight_ns =
		process->period_ns != RECORDING_UNKNOWN ? process->period_ns : weight_ns;
	CLEANUP(freep)
	char *sql = xasprintf("UPDATE processes SET sample_weight_ns=%lld WHERE id=%u",
			      (long long)process->sample_weight_ns, id);
	writer_run(writer, sql);
	return process->sample_weight_ns;
}

static void add_to_interval(struct recording_writer *writer,
			    const struct recording_sample *sample, uint32_t id)
{
	struct writer_interval *interval = &writer->interval;

	if (interval->sums.samples == 0) {
		interval->first_sample = id;
		interval->from_ns = interval->to_ns = sample->time_ns;
	}
	if (sample->time_ns < interval->from_ns)
		interval->from_ns = sample->time_ns;
	if (sample->time_ns > interval->to_ns)
		interval->to_ns = sample->time_ns;
	interval->sums.endings[sample->ending]++;
	sums_add(&interval->sums, &(struct recording_sum){ .thread = sample->thread,
							   .stack = sample->stack,
							   .state = sample->state,
							   .weight_ns = sample->weight_ns,
							   .samples = 1 });
}

static int write_sample(struct recording_writer *writer, const struct recording_sample *sample,
			int64_t base_ns)
{
	uint32_t process = writer->thread_processes[sample->thread - 1];
	int64_t usual_ns = sample_weight_of(writer, process, sample->weight_ns);
	uint32_t id = ++writer->last_id[TABLE_SAMPLE_ROWS];
	struct row row = row_begin(writer, TABLE_SAMPLE_ROWS, id);

	row_int(&row, sample->time_ns - base_ns);
	row_int(&row, sample->thread);
	row_int(&row, sample->stack);
	row_figure(&row, sample->weight_ns == usual_ns ? RECORDING_UNKNOWN : sample->weight_ns);
	row_int(&row, sample->state + RECORDING_STATES * sample->ending);
	add_to_interval(writer, sample, id);
	return row_end(&row);
}

int writer_flush_samples(struct recording_writer *writer)
{
	size_t count = writer->sample_count;
	int rc = writer->failure_rc;

	writer->sample_count = 0;
	if (count == 0 || rc < 0)
		return rc;
	if (count > UINT32_MAX - writer->last_id[TABLE_SAMPLE_ROWS])
		return writer_fail(writer, SQLITE_TOOBIG);
	int64_t base_ns = writer->samples[0].time_ns;
	struct row row = row_begin(writer, TABLE_BATCHES,
				   (int64_t)writer->last_id[TABLE_SAMPLE_ROWS] + 1);

	row_int(&row, base_ns);
	rc = row_end(&row);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = write_sample(writer, &writer->samples[i], base_ns);
	if (rc == 0 && writer->interval.sums.count >= SUMS_LIMIT) {
		rc = writer_end_interval(writer, WRITER_LAST_INTERVAL_RATIO);
		sums_clear(&writer->interval.sums); /* too many: readers sum these samples */
	}
	return rc;
}

static int write_sums(struct recording_writer *writer, uint32_t interval)
{
	int rc = 0;

	for (size_t i = 0; i < writer->interval.sums.count && rc == 0; i++) {
		const struct recording_sum *sum = &writer->interval.sums.rows[i];
		struct row row =
			row_begin(writer, TABLE_SUMS, (int64_t)++writer->last_id[TABLE_SUMS]);

		row_int(&row, interval);
		row_int(&row, sum->thread);
		row_int(&row, sum->stack);
		row_int(&row, sum->state);
		row_int(&row, sum->weight_ns);
		row_int(&row, (int64_t)sum->samples);
		rc = row_end(&row);
	}
	return rc;
}

static int write_endings(struct recording_writer *writer, uint32_t interval)
{
	int rc = 0;

	for (uint32_t ending = 0; ending < SUMS_ENDINGS && rc == 0; ending++) {
		uint64_t samples = writer->interval.sums.endings[ending];

		if (samples == 0)
			continue;
		struct row row =
			row_begin(writer, TABLE_ENDINGS, ++writer->last_id[TABLE_ENDINGS]);

		row_int(&row, interval);
		row_int(&row, ending);
		row_int(&row, (int64_t)samples);
		rc = row_end(&row);
	}
	return rc;
}

int writer_end_interval(struct recording_writer *writer, uint64_t min_ratio)
{
	struct writer_interval *interval = &writer->interval;

	if (interval->sums.count == 0 ||
	    interval->sums.samples < min_ratio * interval->sums.count)
		return 0;
	uint32_t id = ++writer->last_id[TABLE_INTERVALS];
	struct row row = row_begin(writer, TABLE_INTERVALS, id);

	row_int(&row, interval->first_sample);
	row_int(&row, writer->last_id[TABLE_SAMPLE_ROWS]);
	row_int(&row, interval->from_ns);
	row_int(&row, interval->to_ns);
	int rc = row_end(&row);

	if (rc == 0)
		rc = write_sums(writer, id);
	if (rc == 0)
		rc = write_endings(writer, id);
	sums_clear(&interval->sums);
	return rc;
}
