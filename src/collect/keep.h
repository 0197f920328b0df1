/*
 * keep - program files that may be gone when their addresses are looked up.
 *
 * A file is held open from its first sample on; if its path no longer leads to it at the
 * end (it was deleted, or built anew), a copy goes into the recording.  One that was deleted
 * before is copied through the process that still runs it, where that is allowed.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct recording_writer;
struct keep_file;

struct keep {
	struct keep_file *files;
	size_t count, capacity;
};

/* Notes the first sample in the file at path, mapped at [start, end) in pid. */
void keep_note(struct keep *keep, uint32_t process_row, pid_t pid, const char *path,
	       uint64_t start, uint64_t end);
/* Copies what has gone. */
void keep_finish(struct keep *keep, struct recording_writer *writer);
void keep_done(struct keep *keep);
