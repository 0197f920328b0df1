/*
 * postgres_wait - what a process of PostgreSQL says that it waits for: pg_stat_activity's wait_event,
 * read in its memory.
 *
 * PostgreSQL waits for locks between its processes in a semaphore or a latch, so that the system call
 * alone says nothing.  14 and later have a pointer to the number of the event, my_wait_event_info; its
 * upper byte is the class (src/include/utils/wait_event.h).  Names of events are in its code, but for
 * those of heavyweight locks' kinds (LockTagTypeNames) and, up to 16, of lightweight locks
 * (IndividualLWLockNames, and an array of lwlock.c's that begins with XactBuffer).  Which process
 * holds a lock is not recorded in this form.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/wait_state.h"

struct remote;
struct text;

/*
 * Adds "LWLock WALWrite", "Lock transactionid", "Client", "Activity", and the state, if it is a
 * wait between processes or for a client.  False: it is no such process, or waits for nothing of
 * these.
 */
bool postgres_wait_add(struct remote *remote, struct text *out, enum wait_state *state);
