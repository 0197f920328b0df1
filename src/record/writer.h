/*
 * writer - writes a recording, which stays readable up to the last second if anything is
 * killed.
 *
 * A writer is used by one thread. It commits when recording_writer_tick() finds that a second
 * has passed, and checkpoints every five. The first failure (a full disk, an I/O error) ends
 * the recording: later calls return its sentence, and committed rows stay readable. The caller
 * must ignore SIGXFSZ, or a limit on file size kills it instead.
 *
 * Rows are stored in batches by the calling thread, so that a failure is known at the next tick
 * or commit at the latest; or by a thread of the writer's own, so that only calls documented to
 * wait do wait for the disk, however slow it is. Then the amount of rows queued for the disk is
 * bounded: from 64 MiB on, a caller leaves samples out (recording_writer_has_room()) and counts
 * them as lost; the rows that samples refer to have 256 MiB, and the recording ends if they
 * take more. So each row in a recording has the rows that it refers to.
 *
 * Invalid arguments (an id that was not assigned, a negative weight, samples for a reopened
 * recording) are -EINVAL and change nothing.
 */
#pragma once
#include "record/recording.h"

struct error;
struct recording_writer;

/*
 * Creates a new file at path (never over an existing one: -EEXIST). Falls back to a rollback
 * journal where WAL cannot work; recording_writer_journal_mode() returns which.
 */
int recording_writer_create(const char *path, struct recording_writer **out_writer,
			    struct error *err);
const char *recording_writer_journal_mode(const struct recording_writer *writer);

/* Facts of the recording as a whole, by key (record/keys.h): the last one wins. */
int recording_writer_set(struct recording_writer *writer, const char *key, const char *value);
int recording_writer_set_int(struct recording_writer *writer, const char *key, int64_t value);
/* Adds a sentence for the report's notes. */
int recording_writer_note(struct recording_writer *writer, const char *text);

/*
 * Adding returns the id in *out_id; the structs' own id fields are ignored. Updating takes the
 * id in the struct and rewrites the whole row.
 */
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
 * thousands of others came since its last use: memory is bounded, and readers treat rows of
 * equal content as one.
 */
int recording_writer_add_frame(struct recording_writer *writer,
			       const struct recording_frame *frame, uint32_t *out_id);
int recording_writer_add_stack(struct recording_writer *writer,
			       const struct recording_stack *stack, uint32_t *out_id);
int recording_writer_add_sample(struct recording_writer *writer,
				const struct recording_sample *sample);
/* Counts samples that were taken but not stored, with the reason ("the ring was full"). */
int recording_writer_add_owner(struct recording_writer *writer,
			       const struct recording_owner *owner);
int recording_writer_add_lost(struct recording_writer *writer, const char *reason,
			      uint64_t samples);
/*
 * Stores a copy of a file that may be gone later (a perf map, a jitdump, a deleted ELF file).
 * -EFBIG, and nothing else happens, if it is larger than SQLite's limit (a gigabyte).
 */
int recording_writer_add_file(struct recording_writer *writer, uint32_t process,
			      const char *path, const void *data, size_t len);

/*
 * The same content gives the same id, unless megabytes of others came since its last use, as
 * with frames.
 */
int recording_writer_add_code(struct recording_writer *writer,
			      const struct recording_code *code, uint32_t *out_id);
/* The reason why stacks lack its frames may become known later: update. */
int recording_writer_add_interpreter(struct recording_writer *writer,
				     const struct recording_interpreter *interpreter,
				     uint32_t *out_id);
int recording_writer_update_interpreter(struct recording_writer *writer,
					const struct recording_interpreter *interpreter);

/*
 * Traced calls, as counted so far: updated repeatedly. Readers sum rows of one thread and
 * stack.
 */
int recording_writer_add_calls(struct recording_writer *writer,
			       const struct recording_calls *calls, uint32_t *out_id);
int recording_writer_update_calls(struct recording_writer *writer,
				  const struct recording_calls *calls);
/* One row for a process and kind. */
int recording_writer_add_cost(struct recording_writer *writer,
			      const struct recording_cost *cost, uint32_t *out_id);
/* Rewrites the row with its id. */
int recording_writer_update_cost(struct recording_writer *writer,
				 const struct recording_cost *cost);

/* Symbols: the same content gives the same function id. */
int recording_writer_add_function(struct recording_writer *writer,
				  const struct recording_function *function, uint32_t *out_id);
int recording_writer_add_location(struct recording_writer *writer,
				  const struct recording_location *location);

/*
 * From here on a separate thread stores rows, until recording_writer_stop_thread(), which must
 * be called before fork(). -EAGAIN: no thread can be created, and nothing has changed.
 */
int recording_writer_start_thread(struct recording_writer *writer);
/*
 * Waits at most timeout_ms (negative: without limit) until all rows are stored. True: they are,
 * and the thread has ended.
 */
bool recording_writer_stop_thread(struct recording_writer *writer, int timeout_ms);
/* False while so many rows wait for the disk that a caller must leave samples out. */
bool recording_writer_has_room(const struct recording_writer *writer);
/* Bytes of rows that wait for the disk. */
size_t recording_writer_waiting(const struct recording_writer *writer);
/*
 * The approximate size of the file including rows that wait for the disk; 0 before the first
 * commit.
 */
uint64_t recording_writer_bytes(const struct recording_writer *writer);

/* Commits the rows added so far, whatever the time, and waits for the disk. */
int recording_writer_commit(struct recording_writer *writer);
/*
 * Call often: stores all rows, and commits when a second has passed since the last commit. If
 * the disk takes longer, one commit covers several seconds.
 */
int recording_writer_tick(struct recording_writer *writer);
/*
 * Whether recording_writer_tick() would commit now: add first what the commit should contain.
 */
bool recording_writer_is_due(const struct recording_writer *writer);
/*
 * Commits, closes cleanly and leaves one file; a reader that still has it open after two
 * seconds tidies up itself. Takes writer, whatever the result.
 */
int recording_writer_close(struct recording_writer *writer, struct error *err);
/* The sentence of the failure that ended the recording, or NULL. */
const char *recording_writer_failure(const struct recording_writer *writer);

/*
 * Opens an existing recording that is not being written, to add what a killed recorder could
 * not: symbols, facts and notes. -EBUSY if it is still being written. Nothing is committed
 * before recording_writer_close(); incomplete symbols are dropped and begun anew.
 */
int recording_writer_reopen(const char *path, struct recording_writer **out_writer,
			    struct error *err);
