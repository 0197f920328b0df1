/*
 * file_keeper - keeps program files that may be deleted or replaced before their addresses are
 * looked up.
 *
 * The mapped file (mapped_file.h) is held open from its first sample on; if its path no longer
 * leads to it at the end (it was deleted, or built anew), a copy is stored in the recording.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct held_file;
struct module_place;
struct recording_writer;

struct file_keeper {
	struct held_file *files;
	size_t count, capacity;
};

/* Called at the first sample in a file that pid has mapped. */
void file_keeper_add(struct file_keeper *keeper, uint32_t process_row, pid_t pid,
		     const struct module_place *place);
/* Stores copies of the files whose paths no longer lead to them. */
void file_keeper_finish(struct file_keeper *keeper, struct recording_writer *writer);
void file_keeper_done(struct file_keeper *keeper);
