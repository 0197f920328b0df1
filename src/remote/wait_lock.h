/*
 * wait_lock - what a thread in a futex waits for, by the C library's data at the futex's
 * address.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct remote;
struct task_call;

/* A pthread mutex or read-write lock that threads hold, or memory that looks like one. */
struct wait_lock {
	uint64_t address; /* 0: it waits for none */
	bool is_rwlock;
	pid_t inner_owner; /* the thread that holds it, as its own PID namespace numbers it */
	uint32_t readers;  /* or how many threads hold it for reading; which ones is unknown */
};

/* The lock that a thread in this system call waits for. */
struct wait_lock wait_find_lock(struct remote *remote, const struct task_call *call);
/* The thread that holds the mutex at the address now; 0: none. */
pid_t wait_mutex_owner(struct remote *remote, uint64_t address);
/* The thread that holds the read-write lock for writing now; 0: none. */
pid_t wait_rwlock_writer(struct remote *remote, uint64_t address);
/*
 * The thread that one in this call joins (pthread_join), as its own PID namespace numbers it;
 * 0: none.
 */
pid_t wait_find_joined(struct remote *remote, const struct task_call *call);
