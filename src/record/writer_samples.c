/* Writes samples; a weight equal to its process's usual one is omitted. */
#include "record/writer_state.h"

#include <errno.h>

#include "base/memory.h"
#include "record/writer.h"
#include "record/writer_row.h"

/* A process's first sample fixes the weight that NULL stands for; it never changes. */
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

int recording_writer_add_sample(struct recording_writer *writer,
				const struct recording_sample *sample)
{
	if (writer_rc(writer) < 0)
		return writer_rc(writer);
	if (sample->thread == 0 || sample->thread > writer->thread_count ||
	    sample->stack > writer->last_id[TABLE_STACKS] ||
	    sample->state >= RECORDING_STATES || sample->ending >= SUMS_ENDINGS ||
	    sample->weight_ns < 0)
		return -EINVAL;
	const uint32_t process = writer->thread_processes[sample->thread - 1];
	const int64_t usual_ns = sample_weight_of(writer, process, sample->weight_ns);
	struct row row = row_begin_entry(writer, ROW_SAMPLE);

	row_int(&row, sample->time_ns);
	row_int(&row, sample->thread);
	row_int(&row, sample->stack);
	row_int(&row, sample->state + RECORDING_STATES * sample->ending);
	row_int(&row, sample->weight_ns);
	row_int(&row, sample->weight_ns == usual_ns);
	return row_end(&row);
}
