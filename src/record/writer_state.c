#include "record/writer_state.h"

#include <stdlib.h>

#include "base/memory.h"
#include "record/lock.h"

void writer_free(struct recording_writer *writer)
{
	queue_end(writer->queue);
	queue_chunk_free(writer->chunk);
	store_done(&writer->store);
	/* After SQLite's own descriptors, see lock.h. */
	lock_closep(&writer->lock_fd);
	intern_done(&writer->facts);
	intern_done(&writer->reasons);
	intern_done(&writer->sources);
	intern_done(&writer->functions);
	intern_done(&writer->modules);
	table_done(&writer->module_ids);
	recent_done(&writer->frames);
	recent_done(&writer->stacks);
	writer_codes_done(&writer->codes);
	free(writer->lost);
	free(writer->processes);
	free(writer->thread_processes);
	free(writer->path);
	free(writer);
}

void writer_freep(struct recording_writer **writer)
{
	if (*writer != NULL)
		writer_free(*writer);
}

struct recording_writer *writer_new(const char *path, int lock_fd)
{
	struct recording_writer *writer = xzalloc(sizeof *writer);

	writer->path = writer->store.path = xstrdup(path);
	writer->lock_fd = lock_fd;
	writer->frames.limit = WRITER_KNOWN_FRAMES;
	writer->stacks.limit = WRITER_KNOWN_STACKS;
	writer->codes.limit_bytes = WRITER_KNOWN_CODES_BYTES;
	writer->samples_waiting = WRITER_SAMPLES_WAITING;
	writer->rows_waiting = WRITER_ROWS_WAITING;
	return writer;
}
