/* Writes a recording: its thread, commits, facts and end (writer.h). */
#include "record/writer_state.h"

#include <errno.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "record/keys.h"
#include "record/writer.h"
#include "record/writer_row.h"

/*
 * If the machine or all processes are killed, the loss is this, one round of the recorder and
 * the writer's delay: a second.
 */
#define COMMIT_EVERY_NS 500000000ull

int writer_fail(struct recording_writer *writer, int rc, const char *reason)
{
	if (writer->failure_rc == 0)
		writer->failure_rc =
			error_set(&writer->failure, rc,
				  "%s: the recording ends here: %s; what was recorded until "
				  "then can be read",
				  writer->path, reason);
	return writer->failure_rc;
}

void writer_hand_over(struct recording_writer *writer)
{
	struct queue_chunk *chunk = writer->chunk;

	if (chunk == NULL || chunk->len == 0)
		return;
	if (writer->queue == NULL) {
		store_take(&writer->store, chunk->bytes, chunk->len);
		chunk->len = 0;
		return;
	}
	writer->chunk = NULL;
	queue_push(writer->queue, chunk);
	if (queue_bytes(writer->queue) > writer->rows_waiting)
		writer_fail(writer, -ENOBUFS, "the disk was too slow");
}

int recording_writer_start_thread(struct recording_writer *writer)
{
	writer_hand_over(writer);
	if (writer->queue == NULL)
		writer->queue = queue_start(store_take, &writer->store);
	return writer->queue != NULL ? 0 : -EAGAIN;
}

bool recording_writer_has_room(const struct recording_writer *writer)
{
	return writer->queue == NULL || queue_bytes(writer->queue) < writer->samples_waiting;
}

size_t recording_writer_waiting(const struct recording_writer *writer)
{
	return writer->queue != NULL ? queue_bytes(writer->queue) : 0;
}

uint64_t recording_writer_bytes(const struct recording_writer *writer)
{
	return atomic_load_explicit(&writer->store.bytes, memory_order_relaxed) +
	       recording_writer_waiting(writer);
}

bool recording_writer_stop_thread(struct recording_writer *writer, int timeout_ms)
{
	writer_hand_over(writer);
	if (writer->queue == NULL)
		return true;
	if (!queue_wait(writer->queue, timeout_ms))
		return false;
	queue_end(writer->queue);
	writer->queue = NULL;
	return true;
}

int writer_run(struct recording_writer *writer, const char *sql)
{
	struct row row = row_begin_entry(writer, ROW_SQL);

	row_text(&row, sql);
	return row_end(&row);
}

/* Commands go to the store, in order with the rows. */
static void send_command(struct recording_writer *writer, enum row_entry command)
{
	struct row row = row_begin_entry(writer, command);

	row_end(&row);
	writer_hand_over(writer);
}

int recording_writer_commit(struct recording_writer *writer)
{
	send_command(writer, ROW_COMMIT);
	if (writer->queue != NULL)
		queue_wait(writer->queue, -1);
	return writer_rc(writer);
}

bool recording_writer_is_due(const struct recording_writer *writer)
{
	return !writer->is_reopened && monotonic_ns() - writer->ticked_at_ns >= COMMIT_EVERY_NS;
}

int recording_writer_tick(struct recording_writer *writer)
{
	if (writer_rc(writer) < 0)
		return writer_rc(writer);
	if (recording_writer_is_due(writer)) {
		writer->ticked_at_ns = monotonic_ns();
		atomic_fetch_add_explicit(&writer->store.ticks, 1, memory_order_relaxed);
		send_command(writer, ROW_TICK);
	}
	if (writer->queue != NULL)
		writer_hand_over(writer);
	return writer_rc(writer);
}

static uint32_t fact_id(struct recording_writer *writer, const char *key)
{
	uint32_t id = intern_string(&writer->facts, key);

	if (id > writer->last_id[TABLE_FACTS])
		writer->last_id[TABLE_FACTS] = id;
	return id;
}

int recording_writer_set(struct recording_writer *writer, const char *key, const char *value)
{
	struct row row = row_begin(writer, TABLE_FACTS, fact_id(writer, key));

	row_text(&row, key);
	row_text(&row, value);
	return row_end(&row);
}

int recording_writer_set_int(struct recording_writer *writer, const char *key, int64_t value)
{
	struct row row = row_begin(writer, TABLE_FACTS, fact_id(writer, key));

	row_text(&row, key);
	row_figure(&row, value);
	return row_end(&row);
}

int recording_writer_note(struct recording_writer *writer, const char *text)
{
	if (text == NULL)
		return -EINVAL;
	struct row row = row_begin(writer, TABLE_NOTES, ++writer->last_id[TABLE_NOTES]);

	row_text(&row, text);
	return row_end(&row);
}

const char *recording_writer_journal_mode(const struct recording_writer *writer)
{
	return writer->store.is_wal ? "wal" : "rollback";
}

const char *recording_writer_failure(const struct recording_writer *writer)
{
	if (writer->failure_rc < 0)
		return writer->failure.text;
	return store_rc(&writer->store) < 0 ? writer->store.failure.text : NULL;
}

/* Any failure outside of the store leaves a consistent recording, only not a finished one. */
static void commit_at_last(struct recording_writer *writer)
{
	struct store *store = &writer->store;

	if (!writer->is_reopened)
		recording_writer_set_int(writer, KEY_FINISHED, 1);
	writer_hand_over(writer);
	store_end_interval(store, STORE_LAST_INTERVAL_RATIO);
	for (int i = 0; i < STORE_BUSY_STEPS; i++) {
		store_commit(store);
		if (store_rc(store) < 0 || !store->has_transaction)
			return;
		usleep(STORE_BUSY_STEP_US);
	}
	store_fail(store, SQLITE_BUSY);
}

/*
 * If readers keep it open, the recording is complete all the same, and the last of them tidies
 * up.
 */
static void leave_one_file(struct store *store)
{
	for (int i = 0; i < STORE_BUSY_STEPS; i++) {
		if (database_set_journal_mode(store->db, "DELETE") || store_rc(store) < 0)
			return;
		usleep(STORE_BUSY_STEP_US);
	}
}

int recording_writer_close(struct recording_writer *writer, struct error *err)
{
	recording_writer_stop_thread(writer, -1);
	if (store_rc(&writer->store) == 0)
		commit_at_last(writer);
	if (writer->store.is_wal)
		leave_one_file(&writer->store);
	int rc = writer_rc(writer);

	if (rc < 0)
		error_set(err, rc, "%s", recording_writer_failure(writer));
	writer_free(writer);
	return rc;
}
