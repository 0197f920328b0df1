/*
 * session_agent - injects an agent into a process that already runs (attach/attach.h); the
 * agent then does its handshake as a preloaded one does.
 *
 * Its events count user mode only: one that counts system time may trap in the program that the
 * process executes next, which has no handler (decision 0003).  System time is sampled by
 * timers.
 */
#pragma once
#include <stdbool.h>

struct error;
struct image;
struct session;

/* Whether to inject an agent: --trigger sigtrap, or an interpreter whose frames can be read. */
bool session_agent_is_wanted(struct session *session, struct image *image);
/*
 * Injects an agent: 0 if it samples the image now.  Else -errno and a sentence whose subject is
 * the process: -ENOTSUP: nothing was done to it; -EBUSY: another recorder already samples it.
 */
int session_agent_begin(struct session *session, struct image *image, struct error *err);
/* Called before the handshake of an injected agent, or of its forked copy, is answered. */
void session_agent_expect(const struct session *session, struct image *image);
/* Closes the image's events, and has its agent forget the session. */
void session_agent_end(struct image *image);
