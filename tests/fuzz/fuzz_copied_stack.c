/*
 * A sample's record, with any registers and any stack: parsed, and unwound in a process that has
 * this program mapped, as every record that the kernel writes is.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/events/copied_format.h"
#include "remote/followed.h"
#include "remote/stack.h"
#include "remote/unwind_files.h"
#include "target/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void map_all(struct followed *followed, const struct maps *maps)
{
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);

		if (mapping->is_executable)
			followed_map(followed,
				     &(struct followed_mapping){
					     .start = mapping->start,
					     .end = mapping->end,
					     .file_offset = mapping->file_offset,
					     .path = mapping->path[0] ? mapping->path : NULL,
				     });
	}
}

/* An address of ours in place of the first words, that a walk may begin. */
static void begin_somewhere(struct copied_sample *sample)
{
	if (sample->copy.registers.pc % 3 == 0)
		sample->copy.registers.pc = (uint64_t)(uintptr_t)map_all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct unwind_files files;
	static struct followed *followed;
	static struct remote_stack stack;
	struct copied_sample sample;
	struct perf_event_header *record;

	if (!followed) {
		struct maps *maps;

		unwind_files_init(&files);
		followed = followed_new(getpid(), &files);
		if (maps_read(getpid(), &maps, NULL) < 0)
			abort();
		map_all(followed, maps);
		maps_free(maps);
	}
	if (size < 1 || size > UINT16_MAX - sizeof *record)
		return 0;
	record = malloc(sizeof *record + size - 1);
	if (!record)
		abort();
	*record = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE,
					      .size = (uint16_t)(sizeof *record + size - 1) };
	memcpy(record + 1, data + 1, size - 1);
	(void)copied_record_time(record);
	if (copied_sample_parse(record, data[0] & 1, &sample) && sample.has_copy) {
		begin_somewhere(&sample);
		followed_walk(followed, &sample.copy, &stack);
		if (stack.count > STACK_FRAMES_MAX)
			abort();
	}
	free(record);
	return 0;
}
