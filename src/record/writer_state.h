/* writer_state - state shared by the files of the writer. No other file includes it. */
#pragma once
#include "base/error.h"
#include "base/recent.h"
#include "base/table.h"
#include "record/queue.h"
#include "record/row.h"
#include "record/schema.h"
#include "record/store.h"

/* Rows are handed over in chunks of this size. */
#define WRITER_CHUNK_BYTES ((size_t)64 << 10)

/*
 * Limits on bytes waiting for the disk while a thread writes: at the first, samples are left
 * out; at the second, which counts the rows that samples refer to, the recording ends.
 */
#define WRITER_SAMPLES_WAITING ((size_t)64 << 20)
#define WRITER_ROWS_WAITING    ((size_t)256 << 20)

/*
 * How many recently used frames and stacks the writer remembers: two tables of 16 MiB, and two
 * of 32 MiB. A forgotten one that comes back gets another row.
 */
#define WRITER_KNOWN_FRAMES (3U << 17)
#define WRITER_KNOWN_STACKS (3U << 18)

/* Likewise bytes of code objects' names, twice. */
#define WRITER_KNOWN_CODES_BYTES ((size_t)8 << 20)

/*
 * Remembered code objects: their contents, each with its row. The older generation serves those
 * that come back, as in base/recent.h.
 */
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
	struct queue *queue;                  /* NULL: the calling thread stores rows */
	size_t samples_waiting, rows_waiting; /* limits, in bytes */
	struct queue_chunk *chunk;            /* rows not handed over yet; may be NULL */
	bool is_reopened;
	uint32_t last_id[TABLE_COUNT];
	size_t max_value_bytes; /* of a text or a blob */
	/* The failure that ended the recording, if not the store's. */
	int failure_rc;
	struct error failure;
	uint64_t ticked_at_ns; /* CLOCK_MONOTONIC */

	struct intern facts, reasons, sources, functions, modules;
	uint32_t first_function, first_source; /* first new ids after it was reopened */
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
/* Ends the recording, for a reason other than the database; returns rc. */
int writer_fail(struct recording_writer *writer, int rc, const char *reason);
/* Passes the rows made so far to the store, or to its thread's queue. */
void writer_hand_over(struct recording_writer *writer);
/* The table's next id. Ids have 32 bits: the recording ends before one is reused. */
uint32_t writer_next_id(struct recording_writer *writer, enum recording_table table);
void writer_codes_done(struct writer_codes *codes);
/* Runs one statement within the transaction. */
int writer_run(struct recording_writer *writer, const char *sql);
