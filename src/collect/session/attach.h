/*
 * session_attach - records processes that already run: `fathom record -p PID`.
 *
 * They are added to the tree with their present threads and mappings; each is sampled by an
 * injected agent or by copied stacks.  The session ends with the last of them, after a given
 * time, or by a signal.
 */
#pragma once
#include <stdbool.h>

struct error;
struct image;
struct session;

/* How a process that already runs is sampled. */
enum attach_means {
	ATTACH_COPIED, /* its stacks, copied by the kernel */
	ATTACH_AGENT,  /* an agent that is injected into it */
};

/* -errno and a sentence if one of them cannot be recorded: then none is. */
int session_attach_start(struct session *session, struct error *err);
/*
 * In each round: injects an agent into at most one process that they have started, or whose
 * inherited agent did not come, if it executes an interpreter and has run for a while.
 */
void session_attach_look(struct session *session);
/*
 * Whether session_attach_look() may still inject an agent into the image: until then its
 * interpreters are not looked at.
 */
bool session_attach_may_enter(const struct session *session, const struct image *image);
/* Whether the session is to end: by a signal, or since its time is over. */
bool session_attach_is_over(const struct session *session);
/*
 * Called before images that still run are left: removes injected agents, and reads the CPU time
 * of images without one.
 */
void session_attach_leave(struct session *session);
