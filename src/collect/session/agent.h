/*
 * session_agent - the part of a session that samples processes which run already from inside: an
 * agent is brought in (attach/attach.h), and says hello as one that was preloaded.
 *
 * Its events count user mode only: one that counts system time may trap in the program that the
 * process executes next, where no handler waits (decision 0003).  System time is sampled by timers.
 */
#pragma once
#include <stdbool.h>

struct error;
struct image;
struct session;

/* Whether the process has an interpreter whose frames are known. */
bool session_agent_is_wanted(struct session *session, struct image *image);
/*
 * 0 when the image is sampled by its agent.  Else -errno and a sentence of which the process is
 * the subject: -ENOTSUP, and nothing was done to it; -EBUSY: another recorder samples it already.
 */
int session_agent_begin(struct session *session, struct image *image, struct error *err);
/* A child of such an image is about to have its hello answered. */
void session_agent_expect(const struct session *session, struct image *image);
/* Its events go, and its agent forgets the session. */
void session_agent_end(struct image *image);
