/*
 * writer - makes a recording, complete up to the last second if anything is killed.
 *
 * A writer is used by one thread.  It commits when recording_writer_tick() finds that a second
 * has gone by, and checkpoints every five.  The first failure (a full disk, an I/O error) ends
 * the recording: the sentence is kept, later calls return it, and what was committed stays
 * readable.  A caller ignores SIGXFSZ, or a limit on the size of files kills it instead.
 *
 * Rows are stored by the thread that makes them, a bunch at a time, so that a failure is known
 * at the next tick or commit at the latest; or by a thread of the writer's own, so that no call
 * but those that say so waits for the disk, however slow it is.  Then what waits for the disk is
 * bounded: from 64 MiB on, a caller leaves samples out (recording_writer_has_room()) and counts
 * them as lost; the rows that give samples their meaning have 256 MiB, and the recording ends
 * if they take more.  So each row that a recording holds has the rows that it names.
 *
 * Arguments that no recording may hold (an id that was not given, a negative weight, samples
 * for a reopened recording) are -EINVAL and change nothing.
 */
#pragma once
#include "record/recording.h"

struct error;
struct recording_writer;

/*
 * Makes a new file at path (never over an existing one: -EEXIST).  Falls back to a rollback
 * journal where WAL cannot work, and says so through recording_writer_journal_mode().
 */
int recording_writer_create(const char *path, struct recording_writer **out_writer,
			    struct error *err);
const char *recording_writer_journal_mode(const struct recording_writer *writer);

/* Facts of the recording as a whole, by key (record/keys.h): the last one wins. */
int recording_writer_set(struct recording_writer *writer, const char *key, const char *value);
int recording_writer_set_int(struct recording_writer *writer, const char *key, int64_t value);
/* A sentence for the report's notes. */
int recording_writer_note(struct recording_writer *writer, const char *text);

/* Adding gives ids in *out_id; the structs' own id fields are ignored.  Updating takes the id
 * in the struct and writes the whole row again. */
int recording_writer_add_process(struct recording_writer *writer,
				 const struct recording_process *process, uint32_t *out_id);
int recording_writer_update_process(struct recording_writer *writer,
				    const struct recording_process *process);
int recording_writer_add_thread(struct recording_writer *writer,
				const struct recording_thread *thread, uint32_t *out_id);
int recording_writer_update_thread(struct recording_writer *writer,
				   const struct recording_thread *thread);
/* The same path, kind and build id give the same id (JIT and unknown modules never do). */
int recording_writer_add_module(struct recording_writer *writer,
				const struct recording_module *module, uint32_t *out_id);
int recording_writer_add_mapping(struct recording_writer *writer,
				 const struct recording_mapping *mapping, uint32_t *out_id);
int recording_writer_end_mapping(struct recording_writer *writer, uint32_t id, int64_t to_ns);
/*
 * The same (module, address) and the same (parent, frame) give the same id, unless hundreds of
 * thousands of others came since it was used last: memory is bounded, and a reader takes rows
 * of the same content for the same.
 */
int recording_writer_add_frame(struct recording_writer *writer,
			       const struct recording_frame *frame, uint32_t *out_id);
int recording_writer_add_stack(struct recording_writer *writer,
			       const struct recording_stack *stack, uint32_t *out_id);
int recording_writer_add_sample(struct recording_writer *writer,
				const struct recording_sample *sample);
/* Samples that were taken and not kept, with the reason ("the ring was full"). */
int recording_writer_add_owner(struct recording_writer *writer,
			       const struct recording_owner *owner);
int recording_writer_add_lost(struct recording_writer *writer, const char *reason,
			      uint64_t samples);
/* A copy of a foreign file that may be gone later (a perf map, a jitdump, a deleted ELF file).
 * -EFBIG, and nothing else happens, if it is larger than SQLite takes (a gigabyte). */
int recording_writer_add_file(struct recording_writer *writer, uint32_t process,
			      const char *path, const void *data, size_t len);

/*
 * The same content gives the same id, unless megabytes of others came since it was used last,
 * as with frames.
 */
int recording_writer_add_code(struct recording_writer *writer,
			      const struct recording_code *code, uint32_t *out_id);
/* Why its frames are not in the stacks may be known only later: update. */
int recording_writer_add_interpreter(struct recording_writer *writer,
				     const struct recording_interpreter *interpreter,
				     uint32_t *out_id);
int recording_writer_update_interpreter(struct recording_writer *writer,
					const struct recording_interpreter *interpreter);

/*
 * Traced calls: what is counted so far, written again and again.  Two rows of one thread and
 * stack are summed by readers.
 */
int recording_writer_add_calls(struct recording_writer *writer,
			       const struct recording_calls *calls, uint32_t *out_id);
int recording_writer_update_calls(struct recording_writer *writer,
				  const struct recording_calls *calls);
/* One row for a process and kind. */
int recording_writer_add_cost(struct recording_writer *writer,
			      const struct recording_cost *cost, uint32_t *out_id);
/* The row that its id names, anew. */
int recording_writer_update_cost(struct recording_writer *writer,
				 const struct recording_cost *cost);

/* Symbols: the same content gives the same function id. */
int recording_writer_add_function(struct recording_writer *writer,
				  const struct recording_function *function, uint32_t *out_id);
int recording_writer_add_location(struct recording_writer *writer,
				  const struct recording_location *location);

/*
 * From here on a thread of its own stores rows, until recording_writer_stop_thread(), which a
 * program that forks calls before.  -EAGAIN: there can be none, and all is as before.
 */
int recording_writer_start_thread(struct recording_writer *writer);
/*
 * Waits for timeout_ms at most (negative: without end) until all rows are stored.  True once
 * they are: the thread has ended.
 */
bool recording_writer_stop_thread(struct recording_writer *writer, int timeout_ms);
/* False while so much waits for the disk that a caller does without samples. */
bool recording_writer_has_room(const struct recording_writer *writer);
/* Bytes of rows that wait for the disk. */
size_t recording_writer_waiting(const struct recording_writer *writer);
/* About as large is the file with what waits for the disk; 0 before the first commit. */
uint64_t recording_writer_bytes(const struct recording_writer *writer);

/* Commits what was added so far, whatever the time, and waits for the disk. */
int recording_writer_commit(struct recording_writer *writer);
/*
 * Call often: has all rows stored, and committed when a second has gone by since it was so
 * last.  A disk that takes longer gets several seconds in one commit.
 */
int recording_writer_tick(struct recording_writer *writer);
/* Whether recording_writer_tick() would commit now: what is to be in it is to be added first. */
bool recording_writer_is_due(const struct recording_writer *writer);
/*
 * Commits, closes cleanly and leaves one file; a reader that is still there after two seconds
 * is left to tidy up.  Takes writer, whatever the result.
 */
int recording_writer_close(struct recording_writer *writer, struct error *err);
/* The sentence of the failure that ended the recording, or NULL. */
const char *recording_writer_failure(const struct recording_writer *writer);

/*
 * Opens a recording that exists and is not being written, to add what a recorder that was
 * killed could not: symbols, facts and notes.  -EBUSY if it is still being written.  Nothing is
 * committed before recording_writer_close(); symbols that are not complete are begun anew.
 */
int recording_writer_reopen(const char *path, struct recording_writer **out_writer,
			    struct error *err);
