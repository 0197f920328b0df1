/*
 * recorder_socket - one question to the recorder, and its answer.
 *
 * Not for handlers.  All signals wait meanwhile.
 */
#pragma once
#include <stdbool.h>

#include "abi/handshake.h"
#include "abi/types.h"

/* What is said (abi/handshake.h): the occasion, the reason, and the process that it is about. */
struct recorder_question {
	u32 occasion;
	u32 reason;
	u32 target;
};

/* In these, one thread is all there is: its number is the process's. */
static inline bool recorder_question_is_beginning(u32 occasion)
{
	return occasion == HANDSHAKE_START || occasion == HANDSHAKE_FORK;
}

/*
 * One question and its answer; false: there was none in time.  *out_ring_fd is the ring's
 * descriptor, the caller's to close, also if this is false; -1: none came.
 */
bool recorder_socket_ask(const struct recorder_question *question,
			 struct handshake_answer *out_answer, int *out_ring_fd);
void recorder_socket_close(int fd);
/* Whether the recorder that the environment names still listens. */
bool recorder_socket_is_reachable(void);
/* The next question is asked on this socket, which is closed then, in place of the recorder's own. */
void recorder_socket_take(int fd);
/* It is closed if nothing was asked. */
void recorder_socket_drop(void);
