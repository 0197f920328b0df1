/*
 * recorder_socket - sends the recorder one message and waits for its answer, in bounded time.
 *
 * All signals are blocked meanwhile.  Not for handlers, but a delayed handshake's.
 */
#pragma once
#include <stdbool.h>

#include "abi/handshake.h"
#include "abi/types.h"

/* What is asked (abi/handshake.h); target: the process that is meant, if another one. */
struct recorder_question {
	u32 occasion;
	u32 reason;
	u32 target;
};

/* On these occasions the process has one thread, whose id is the process's. */
static inline bool recorder_question_is_beginning(u32 occasion)
{
	return occasion == HANDSHAKE_START || occasion == HANDSHAKE_FORK;
}

/*
 * Asks one question; false: no answer came in time.  *out_ring_fd is the ring's descriptor, or -1:
 * the caller closes it, also if this returns false.
 */
bool recorder_socket_ask(const struct recorder_question *question,
			 struct handshake_answer *out_answer, int *out_ring_fd);
void recorder_socket_close(int fd);
/* Whether the recorder that the environment names still listens. */
bool recorder_socket_is_reachable(void);
/* The next question goes over this connected socket, which is then closed. */
void recorder_socket_take(int fd);
/* Closes that socket if no question used it. */
void recorder_socket_drop(void);
