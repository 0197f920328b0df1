/*
 * reader - reads a recording, finished or still being written.
 *
 * Damaged, foreign and too new files are refused with one sentence. A leftover journal is
 * folded in if the folder is writable; otherwise the reader reads through it or asks for it by
 * name. A reader sees the recording as it was when opened, and does not delay the recorder. All
 * loops over rows call a callback, which stops the loop by returning a non-zero value; the loop
 * returns that.
 */
#pragma once
#include "record/recording.h"

struct error;
struct recording_reader;

int recording_reader_open(const char *path, struct recording_reader **out_reader,
			  struct error *err);
void recording_reader_close(struct recording_reader *reader);
void recording_reader_closep(struct recording_reader **reader);

/*
 * Whether the recording was closed cleanly; false while it is written or if its recorder was
 * killed.
 */
bool recording_reader_is_finished(const struct recording_reader *reader);
/* Whether a recorder is writing it now. */
bool recording_reader_is_being_written(const struct recording_reader *reader);
/* Whether its addresses were symbolized (it has locations). */
bool recording_reader_is_symbolized(const struct recording_reader *reader);

/* Whether calls were traced. */
bool recording_reader_has_calls(const struct recording_reader *reader);

/* The value of key, or NULL.  Lives until the reader is closed. */
const char *recording_reader_get(struct recording_reader *reader, const char *key);
/* The value of key, or RECORDING_UNKNOWN. */
int64_t recording_reader_get_int(struct recording_reader *reader, const char *key);

/*
 * Ids count from 1 without gaps, and every id in a row is that of an existing row, or 0:
 * otherwise the recording is refused as damaged.
 */
#define RECORDING_READER_EACH(rows, type)                                                     \
	int recording_reader_each_##rows(struct recording_reader *reader,                     \
					 int (*visit)(void *context, const struct type *row), \
					 void *context, struct error *err)
RECORDING_READER_EACH(process, recording_process);
RECORDING_READER_EACH(thread, recording_thread);
RECORDING_READER_EACH(module, recording_module);
RECORDING_READER_EACH(mapping, recording_mapping);
RECORDING_READER_EACH(frame, recording_frame);
RECORDING_READER_EACH(stack, recording_stack); /* parents before children */
RECORDING_READER_EACH(code, recording_code);
RECORDING_READER_EACH(interpreter, recording_interpreter);
RECORDING_READER_EACH(calls, recording_calls);
RECORDING_READER_EACH(cost, recording_cost);
RECORDING_READER_EACH(function, recording_function);
RECORDING_READER_EACH(location, recording_location);
RECORDING_READER_EACH(sample, recording_sample); /* every one, in order of arrival */
RECORDING_READER_EACH(owner, recording_owner);   /* in order of arrival */
#undef RECORDING_READER_EACH

/* Weights summed over the whole recording: reports read these instead of every sample. */
int recording_reader_each_sum(struct recording_reader *reader,
			      int (*visit)(void *context, const struct recording_sum *row),
			      void *context, struct error *err);
/*
 * The samples with their times: every one, or if there are more than a million, sums over
 * intervals, whose time is the interval's middle; if need be of every nth interval. Not ordered
 * by time.
 */
int recording_reader_each_step(struct recording_reader *reader,
			       int (*visit)(void *context, const struct recording_sample *row,
					    uint64_t samples),
			       void *context, struct error *err);
/* The number of samples for each reason why a walk ended (enum walk_status). */
int recording_reader_each_ending(struct recording_reader *reader,
				 int (*visit)(void *context, uint32_t ending, uint64_t samples),
				 void *context, struct error *err);
int recording_reader_each_lost(struct recording_reader *reader,
			       int (*visit)(void *context, const char *reason,
					    uint64_t samples),
			       void *context, struct error *err);
int recording_reader_each_note(struct recording_reader *reader,
			       int (*visit)(void *context, const char *text), void *context,
			       struct error *err);
/* Files copied into the recording; data is valid during the visit. */
struct recording_file {
	uint32_t process;
	const char *path;
	const void *data;
	size_t len;
};
int recording_reader_each_file(struct recording_reader *reader,
			       int (*visit)(void *context, const struct recording_file *row),
			       void *context, struct error *err);
