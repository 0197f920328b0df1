/*
 * lock - how readers know that a recorder is still writing.
 *
 * An open-file-description lock on a byte that SQLite does not use.  It goes when its
 * holder closes the descriptor or dies.
 *
 * Closing any descriptor of a file drops the locks SQLite holds on it in this process (a law
 * of POSIX locks), so a descriptor used here is closed after SQLite's own, and by lock_close().
 */
#pragma once
#include <stdbool.h>

/* Takes the lock without waiting: 0, -EBUSY if another process has it, or another errno. */
int lock_take(int fd);
/* Whether another process has it. */
bool lock_is_taken(int fd);
/*
 * Gives the lock up and closes fd, unless another descriptor of this process has the same
 * file: then fd stays open until the process ends, so that SQLite's locks stay too.
 */
void lock_close(int fd);
void lock_closep(int *fd); /* for CLEANUP(); -1 is none */
