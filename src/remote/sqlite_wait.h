/*
 * sqlite_wait - recognises a thread that waits for the lock of an SQLite database.
 *
 * SQLite's library has no locks that block: it sleeps and tries again (sqliteDefaultBusyCallback,
 * walTryBeginRead). So a sleep that libsqlite3 calls is such a wait; unless the program calls
 * sqlite3_sleep(), which few do. Programs that contain SQLite are not recognised.
 */
#pragma once
#include <stdbool.h>

struct remote;
struct remote_stack;
struct task_call;

/* stack NULL: it was not walked. */
bool sqlite_waits_for_lock(const struct remote *remote, const struct task_call *call,
			   const struct remote_stack *stack);
