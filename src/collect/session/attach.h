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
struct image;
struct session;

/* What brings samples of a process that runs already. */
enum attach_means {
	ATTACH_COPIED, /* its stacks, copied by the kernel */
	ATTACH_AGENT,  /* an agent that is brought into it */
};

/* -errno and a sentence: one of them cannot be recorded, and none is. */
int session_attach_start(struct session *session, struct error *err);
/*
 * Between rounds: at most one of the processes that they have started, or that no agent of theirs has
 * come from, gets one, if it executes an interpreter and has run for a while.
 */
void session_attach_look(struct session *session);
/* Whether that may bring an agent into the image yet: what is not seen of it is seen from then on. */
bool session_attach_may_enter(const struct session *session, const struct image *image);
/* Whether it is to end: by a signal, or since its time is over. */
bool session_attach_is_over(const struct session *session);
/* Before the images that run still are left: what they have burned up to now. */
void session_attach_leave(struct session *session);
