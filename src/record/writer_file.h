/*
 * writer_file - how a writer's file is made, opened again and given up.
 */
#pragma once

struct recording_writer;

/* Takes lock_fd. */
struct recording_writer *writer_new(const char *path, int lock_fd);

/* Closes what is open, without a last commit, and frees the writer. */
void writer_free(struct recording_writer *writer);
void writer_freep(struct recording_writer **writer);
