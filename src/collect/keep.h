/*
 * keep - program files that may be gone when their addresses are looked up.
 *
 * A file is held open from its first sample on (mapped_file.h has which one); if its path no
 * longer leads to it at the end (it was deleted, or built anew), a copy goes into the recording.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct keep_file;
struct module_place;
struct recording_writer;

struct keep {
	struct keep_file *files;
	size_t count, capacity;
};

/* Notes the first sample in a file that pid has mapped. */
void keep_note(struct keep *keep, uint32_t process_row, pid_t pid,
	       const struct module_place *place);
/* Copies what has gone. */
void keep_finish(struct keep *keep, struct recording_writer *writer);
void keep_done(struct keep *keep);
