/*
 * journal - the files SQLite keeps beside a recording: NAME-wal, NAME-shm, NAME-journal.
 *
 * SQLite finds them by name, so a recording and its journal must stay together until the
 * journal has been folded in.
 */
#pragma once
#include <stdbool.h>

struct error;

#define JOURNAL_WAL      "-wal"
#define JOURNAL_SHM      "-shm"
#define JOURNAL_ROLLBACK "-journal"

/* The caller frees it. */
char *journal_path(const char *path, const char *suffix);
/* Whether that file exists and is not empty. */
bool journal_is_there(const char *path, const char *suffix);
/*
 * Copies what a recording's journals hold into the main file and removes them. -EBUSY if
 * another program has the recording open.
 */
int journal_fold(const char *path, struct error *err);
