/*
 * session_attach - a session of processes that run already: `fathom record -p PID`.
 *
 * They become images of the tree as they are at this moment, with their threads and mappings, and
 * what samples them is chosen for each.  The session ends with the last of them, after a time, or
 * by a signal.
 */
#pragma once
#include <stdbool.h>

struct error;
struct session;

/* What brings samples of a process that runs already. */
enum attach_means {
	ATTACH_COPIED, /* its stacks, copied by the kernel */
	ATTACH_AGENT,  /* an agent that is brought into it */
};

/* -errno and a sentence: one of them cannot be recorded, and none is. */
int session_attach_start(struct session *session, struct error *err);
/* Whether it is to end: by a signal, or since its time is over. */
bool session_attach_is_over(const struct session *session);
/* Before the images that run still are left: what they have burned up to now. */
void session_attach_leave(struct session *session);
