/*
 * locks - describes in words which lock a thread waits for and which thread holds it, and
 * deadlocks.
 */
#pragma once
#include <stdbool.h>

struct remote_thread;
struct snapshot;
struct style;
struct text;

/*
 * Adds " for a Lock that thread 5 holds, in `with` at app.py:12"; nothing if the thread waits
 * for no lock and no thread's end. is_python: its native frames show that it waits for a lock
 * of CPython's.
 */
void dump_add_waited_lock(const struct remote_thread *thread, bool is_python, struct text *out);
/* Adds, for each circle of threads that wait for each other, a line per thread. */
void dump_add_deadlocks(const struct snapshot *snapshot, const struct style *style,
			struct text *out);
