#include "collect/events/copied_format.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/bytes.h"

/* After the header, the identifier, the pid and the tid. */
#define TIME_AT (sizeof(struct perf_event_header) + 16)

uint64_t copied_record_time(const struct perf_event_header *record)
{
	uint64_t time_ns;

	if (record->type != PERF_RECORD_SAMPLE || record->size < TIME_AT + sizeof time_ns)
		return 0;
	memcpy(&time_ns, (const char *)record + TIME_AT, sizeof time_ns);
	return time_ns;
}

/*
 * The marks between kernel and user part are not addresses of code (enum perf_event_context);
 * they are at least PERF_CONTEXT_MAX.
 */
static void take_chain(struct bytes *b, struct copied_sample *sample)
{
	uint64_t count = bytes_u64(b);

	for (; count > 0 && !b->short_read; count--) {
		const uint64_t address = bytes_u64(b);

		if (address < PERF_CONTEXT_MAX && sample->kernel_count < COPIED_KERNEL_FRAMES)
			sample->kernel[sample->kernel_count++] = address;
	}
}

bool copied_sample_parse(const struct perf_event_header *record, bool has_chain,
			 struct copied_sample *out_sample)
{
	struct copied_sample *sample = out_sample;
	struct bytes b = bytes_of(record + 1, record->size - sizeof *record);

	sample->event = bytes_u64(&b);
	sample->pid = (int)bytes_u32(&b);
	sample->tid = (int)bytes_u32(&b);
	sample->time_ns = bytes_u64(&b);
	sample->period_ns = bytes_u64(&b);
	sample->kernel_count = 0;
	if (has_chain)
		take_chain(&b, sample);
	const int rc = b.short_read ? -EBADMSG : stack_copy_take(&b, &sample->copy);

	sample->has_copy = rc == 0;
	return rc == 0 || rc == -ENODATA;
}
