/*
 * postgres_wait - reads PostgreSQL's wait events (pg_stat_activity's wait_event) from a server
 * process's memory.
 *
 * PostgreSQL waits for locks between its processes on a semaphore or a latch, so the system
 * call alone says nothing. Since 14 it has a pointer to the current event's number,
 * my_wait_event_info; the upper byte is the class (src/include/utils/wait_event.h). Event names
 * are in its code, except those of heavyweight locks (LockTagTypeNames) and, up to 16, of
 * lightweight locks (IndividualLWLockNames, and an array in lwlock.c that begins with
 * XactBuffer). Which process holds a lock is not recorded in this form.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/wait_state.h"

struct remote;
struct text;

/*
 * Adds "LWLock WALWrite", "Lock transactionid", "Client" or "Activity", and sets the state, if
 * the process waits for another one or for a client. False: it is not PostgreSQL, or waits for
 * none of these.
 */
bool postgres_wait_add(struct remote *remote, struct text *out, enum wait_state *state);
