#include "collect/events/sideband_event.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/bytes.h"

#define MISC_EXEC     PERF_RECORD_MISC_COMM_EXEC
#define MISC_BUILD_ID (1U << 14) /* PERF_RECORD_MISC_MMAP_BUILD_ID, Linux >= 5.12 */

uint64_t sideband_event_time(const struct perf_event_header *record)
{
	uint64_t time;

	if (record->size < sizeof *record + sizeof time)
		return 0;
	memcpy(&time, (const char *)record + record->size - sizeof time, sizeof time);
	return time;
}

static bool parse_task(struct bytes *b, struct sideband_event *event)
{
	event->pid = (int)bytes_u32(b);
	event->parent_pid = (int)bytes_u32(b);
	event->tid = (int)bytes_u32(b);
	event->parent_tid = (int)bytes_u32(b);
	return true;
}

static bool parse_name(struct bytes *b, struct sideband_event *event)
{
	event->kind = SIDEBAND_NAME;
	event->pid = (int)bytes_u32(b);
	event->tid = (int)bytes_u32(b);
	event->name = bytes_string(b);
	return event->name != NULL;
}

static bool parse_map(struct bytes *b, bool has_build_id, struct sideband_event *event)
{
	event->kind = SIDEBAND_MAP;
	event->pid = (int)bytes_u32(b);
	event->tid = (int)bytes_u32(b);
	event->start = bytes_u64(b);
	event->end = event->start + bytes_u64(b);
	event->file_offset = bytes_u64(b);

	/* Device and inode, or the build id's length and the build id (perf_event.h, MMAP2). */
	const uint8_t *identity = bytes_take(b, 24);

	if (identity != NULL && has_build_id && identity[0] <= sizeof event->build_id) {
		event->build_id_len = identity[0];
		memcpy(event->build_id, identity + 4, event->build_id_len);
	}
	bytes_u64(b); /* protection and flags */
	event->name = bytes_string(b);
	return event->name != NULL;
}

bool sideband_event_parse(const struct perf_event_header *record, struct sideband_event *event)
{
	struct bytes b = bytes_of(record + 1, record->size - sizeof *record);

	*event = (struct sideband_event){ .time_ns = sideband_event_time(record) };
	switch (record->type) {
	case PERF_RECORD_FORK:
		event->kind = SIDEBAND_FORK;
		return parse_task(&b, event) && !b.short_read;
	case PERF_RECORD_EXIT:
		event->kind = SIDEBAND_EXIT;
		return parse_task(&b, event) && !b.short_read;
	case PERF_RECORD_COMM:
		event->is_exec = record->misc & MISC_EXEC;
		return parse_name(&b, event) && !b.short_read;
	case PERF_RECORD_MMAP2:
		return parse_map(&b, record->misc & MISC_BUILD_ID, event) && !b.short_read;
	default:
		return false;
	}
}
