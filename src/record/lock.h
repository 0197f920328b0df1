/*
 * lock - how a recorder tells readers that it is still writing.
 *
 * An open-file-description lock on a byte that SQLite does not use.  It goes when its
 * holder closes the descriptor or dies.
 *
 * Closing any descriptor of a file drops the locks SQLite holds on it in this process (a law
 * of POSIX locks), so a descriptor used here is closed after SQLite's own.
 */
#pragma once
#include <stdbool.h>

/* Takes the lock without waiting: 0, -EBUSY if somebody has it, or another errno. */
int lock_take(int fd);
/* Whether somebody else has it. */
bool lock_is_taken(int fd);
