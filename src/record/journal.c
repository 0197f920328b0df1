#include "record/journal.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "record/database.h"

char *journal_path(const char *path, const char *suffix)
{
	return xasprintf("%s%s", path, suffix);
}

bool journal_is_there(const char *path, const char *suffix)
{
	CLEANUP(freep) char *journal = journal_path(path, suffix);
	struct stat st;

	return stat(journal, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/*
 * Exclusive locking keeps the journal's index in memory, so this works even where NAME-shm
 * cannot be created. A NAME-shm left by a killed recorder is removed while we hold the lock, as
 * no other process can be using it then.
 */
int journal_fold(const char *path, struct error *err)
{
	CLEANUP(database_closep) sqlite3 *db = NULL;
	CLEANUP(freep) char *shm = journal_path(path, JOURNAL_SHM);
	int rc = database_open(path, SQLITE_OPEN_READWRITE, NULL, &db, err);

	if (rc < 0)
		return rc;
	int sqlite_rc = database_exec(db, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA user_version");
	if (sqlite_rc == SQLITE_OK && database_set_journal_mode(db, "DELETE")) {
		unlink(shm);
		return 0;
	}
	if (sqlite_rc == SQLITE_OK)
		sqlite_rc = sqlite3_extended_errcode(db);
	if (sqlite_rc == SQLITE_OK || sqlite_rc == SQLITE_ROW || sqlite_rc == SQLITE_DONE)
		sqlite_rc = SQLITE_BUSY;
	return database_error(err, db, sqlite_rc, path, "cannot take in its journal");
}
