/*
 * hello_server - where agents find the recorder: a socket in a folder of its own that
 * only this user can enter.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/handshake.h"

struct error;
struct hello_server;

/* is_trace: agents wait longer, and see it by the name of the socket. */
int hello_server_open(bool is_trace, struct hello_server **out_server, struct error *err);
/* Removes socket and folder. */
void hello_server_close(struct hello_server *server);
const char *hello_server_path(const struct hello_server *server);
/*
 * A path to the agent that LD_PRELOAD can hold: agent_path, or a link to it in our folder where
 * agent_path has a space or a colon.  Lives as long as the server.
 */
int hello_server_link_agent(struct hello_server *server, const char *agent_path,
			    const char **out_path, struct error *err);
/* Readable when an agent has come, or one that had come has spoken. */
int hello_server_fd(const struct hello_server *server);

/*
 * Takes the next hello that waits: its connection, the agent's pid as the recorder sees
 * it.  1; 0 when none waits.  Strangers (another user, a broken hello) are turned away; who has
 * connected and not spoken yet has all the time it needs, unless descriptors run out, and keeps
 * nobody waiting.
 */
int hello_server_accept(struct hello_server *server, struct handshake_hello *out_hello,
			pid_t *out_pid, int *out_connection);
/* Answers and closes the connection; ring_fd is -1 for HANDSHAKE_LEAVE and stays the
 * caller's.  -errno when the agent has given up waiting. */
int hello_server_answer(int connection, const struct handshake_answer *answer, int ring_fd);
