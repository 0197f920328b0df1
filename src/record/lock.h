/*
 * lock - a file lock by which readers detect that a recorder is still writing.
 *
 * An open-file-description lock on a byte that SQLite does not use. It ends when its holder
 * closes the descriptor or dies.
 *
 * Under POSIX, closing any descriptor of a file drops all locks that SQLite holds on it in this
 * process, so descriptors used here are closed after SQLite's own, and by lock_close().
 */
#pragma once
#include <stdbool.h>

/* Takes the lock without waiting: 0, -EBUSY if another process has it, or another errno. */
int lock_take(int fd);
/* Whether another process holds the lock. */
bool lock_is_taken(int fd);
/*
 * Releases the lock and closes fd, unless another descriptor of this process refers to the same
 * file: then fd stays open until the process ends, so that SQLite's locks stay too.
 */
void lock_close(int fd);
void lock_closep(int *fd); /* for CLEANUP(); -1 is none */
