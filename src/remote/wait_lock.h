/*
 * wait_lock - what a thread in a futex waits for, by the words that the C library has there.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct remote;
struct task_call;

/* A mutex or read-write lock of pthread's (or what looks like one) that threads hold. */
struct wait_lock {
	uint64_t address; /* 0: it waits for none */
	bool is_rwlock;
	pid_t inner_owner; /* the thread that holds it, as its own PID namespace numbers it */
	uint32_t readers;  /* or how many threads hold it for reading: which is not known */
};

/* The lock that a thread in this call waits for, by its words. */
struct wait_lock wait_find_lock(struct remote *remote, const struct task_call *call);
/* The thread that holds the mutex at the address now; 0: none. */
pid_t wait_mutex_owner(struct remote *remote, uint64_t address);
/* The thread that holds the read-write lock for writing now; 0: none. */
pid_t wait_rwlock_writer(struct remote *remote, uint64_t address);
/* The thread whose end one in this call waits for (pthread_join), in numbers of its own PID
 * namespace; 0: for none. */
pid_t wait_find_joined(struct remote *remote, const struct task_call *call);
