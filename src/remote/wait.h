/*
 * wait - what a blocked thread waits for: its system call in a few words, and the mutex.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct remote;
struct task_call;
struct text;

/* A mutex of pthread's (or what looks like one) that somebody holds. */
struct wait_lock {
	uint64_t address;  /* 0: it waits for none */
	pid_t inner_owner; /* the thread that holds it, as its own PID namespace numbers it */
};

/* "read(/var/log/app)", "poll(2 sockets, a pipe)", "clock_nanosleep(10 s)"; nothing if in no call. */
void wait_describe(struct remote *remote, const struct task_call *call, struct text *out);
/* The mutex that a thread in this call waits for, by its lock word. */
struct wait_lock wait_find_lock(struct remote *remote, const struct task_call *call);

/* What a descriptor is, by the text of its link: "a socket", "a pipe", or the path itself. */
const char *wait_descriptor_kind(const char *link);
