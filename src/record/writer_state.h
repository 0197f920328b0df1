/*
 * writer_state - what the files of the writer share.  No other file includes it.
 */
#pragma once
#include "base/error.h"
#include "base/recent.h"
#include "base/table.h"
#include "record/queue.h"
#include "record/row.h"
#include "record/schema.h"
#include "record/store.h"

/* So many bytes of rows are handed over at a time. */
#define WRITER_CHUNK_BYTES ((size_t)64 << 10)

/*
 * What may wait for the disk while a thread writes: samples are left out from the first on, and
 * the recording ends at the second, which is for all that makes sense of samples.
 */
#define WRITER_SAMPLES_WAITING ((size_t)64 << 20)
#define WRITER_ROWS_WAITING    ((size_t)256 << 20)

/*
 * Of how many frames and stacks used lately the writer knows that they are there: two tables of
 * 16 MiB, and two of 32 MiB.  What comes back after it was forgotten gets another row.
 */
#define WRITER_KNOWN_FRAMES (3U << 17)
#define WRITER_KNOWN_STACKS (3U << 18)

/* And of as many bytes of codes' names, twice. */
#define WRITER_KNOWN_CODES_BYTES ((size_t)8 << 20)

/* What is known of codes: their contents, each with its row.  The older is for those that
 * come back, as in base/recent.h. */
struct writer_codes_generation {
	struct intern contents;
	struct table rows; /* by the content's number */
	size_t bytes;
};

struct writer_codes {
	struct writer_codes_generation young, old;
	size_t limit_bytes; /* of one generation */
};

struct writer_process {
	int64_t period_ns;
	int64_t sample_weight_ns; /* what NULL in sample_rows.weight means */
};

struct recording_writer {
	char *path;
	int lock_fd;
	struct store store;
	struct queue *queue; /* NULL: rows are stored by the thread that makes them */
	size_t samples_waiting, rows_waiting; /* the most, in bytes */
	struct queue_chunk *chunk; /* rows that were not handed over yet; may be NULL */
	bool is_reopened;
	uint32_t last_id[TABLE_COUNT];
	size_t max_value_bytes; /* of a text or a blob */
	/* What ended the recording before the store did. */
	int failure_rc;
	struct error failure;
	uint64_t ticked_at_ns; /* CLOCK_MONOTONIC */

	struct intern facts, reasons, sources, functions, modules;
	uint32_t first_function, first_source; /* ids that stood there when it was reopened */
	struct table module_ids;
	struct recent frames, stacks;
	struct writer_codes codes;
	uint64_t *lost; /* by reason's id - 1 */
	size_t lost_count, lost_capacity;
	struct writer_process *processes; /* by id - 1 */
	size_t process_count, process_capacity;
	uint32_t *thread_processes; /* by id - 1 */
	size_t thread_count, thread_capacity;
};

/* Takes lock_fd. */
struct recording_writer *writer_new(const char *path, int lock_fd);
/* Closes what is open, without a last commit, and frees the writer. */
void writer_free(struct recording_writer *writer);
void writer_freep(struct recording_writer **writer);
/* 0, or the errno of the failure that ended the recording. */
static inline int writer_rc(const struct recording_writer *writer)
{
	return writer->failure_rc < 0 ? writer->failure_rc : store_rc(&writer->store);
}
/* Ends the recording, for a reason that is not the database's; returns rc. */
int writer_fail(struct recording_writer *writer, int rc, const char *reason);
/* Has the rows that were made so far stored, or queued where a thread stores them. */
void writer_hand_over(struct recording_writer *writer);
/* The table's next id.  They are 32 bits: the recording ends before one is given twice. */
uint32_t writer_next_id(struct recording_writer *writer, enum recording_table table);
void writer_codes_done(struct writer_codes *codes);
/* Runs one statement within the transaction. */
int writer_run(struct recording_writer *writer, const char *sql);
