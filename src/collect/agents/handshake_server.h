/*
 * handshake_server - the socket to which agents connect for their handshake, in a folder in which
 * only this user can create names (socket_folder.h).
 *
 * It accepts agents of its own user and of root.  Root's recorder also accepts those of other
 * users, since root's program may change its user; these must belong to the tree that it
 * records.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/handshake.h"

struct error;
struct handshake_server;

/* is_trace: agents see it by the socket's name, and wait longer. */
int handshake_server_open(bool is_trace, struct handshake_server **out_server,
			  struct error *err);
/* Removes socket and folder. */
void handshake_server_close(struct handshake_server *server);
const char *handshake_server_path(const struct handshake_server *server);
/*
 * A path to the agent that LD_PRELOAD can hold: agent_path, or a link to it in our folder where
 * agent_path has a space or a colon.  Lives as long as the server.
 */
int handshake_server_link_agent(struct handshake_server *server, const char *agent_path,
				const char **out_path, struct error *err);
/* Readable when an agent has connected, or a connected one has sent its handshake. */
int handshake_server_fd(const struct handshake_server *server);

/* An agent's process, by its credentials when it connected (unix(7), SO_PEERCRED). */
struct handshake_peer {
	pid_t pid;       /* as the recorder sees it */
	bool is_foreign; /* neither the recorder's user nor root: it must be of the tree */
};

/*
 * Takes the next handshake: its connection, and the agent's process.  Returns 1, or 0 if none
 * waits.  Strangers (another user, a broken handshake) are turned away.  An agent that has
 * connected and sent nothing yet delays no other, and has all the time it needs, unless
 * descriptors run out, or there are HANDSHAKE_SERVER_FOREIGN such of other users.
 */
int handshake_server_accept(struct handshake_server *server,
			    struct handshake_request *out_request,
			    struct handshake_peer *out_peer, int *out_connection);
/*
 * Takes a connection that needs no path, to an agent of this process, which the caller has
 * verified; handshake_server_accept() returns it when its handshake has come.
 */
void handshake_server_add(struct handshake_server *server, pid_t pid, int connection);
#define HANDSHAKE_SERVER_FOREIGN 64
/*
 * Why an agent of this process, which began at start_ns and has ended, was not answered: its
 * handshake still waits here, or for want of descriptors it could not be accepted.  NULL: none
 * came.
 */
const char *handshake_server_why_unanswered(struct handshake_server *server, pid_t pid,
					    uint64_t start_ns);
#define HANDSHAKE_SERVER_TOO_LATE       "the recorder was too late to answer it"
#define HANDSHAKE_SERVER_NO_DESCRIPTORS "no file descriptors left for it"
/* Whether a recorder of `own` may hear an agent of `uid`; *out_is_foreign as struct handshake_peer. */
bool handshake_server_may_hear(uid_t uid, uid_t own, bool *out_is_foreign);
/*
 * Answers and closes the connection; ring_fd is -1 for HANDSHAKE_LEAVE and stays the caller's.
 * -errno if the agent has given up waiting.
 */
int handshake_server_answer(int connection, const struct handshake_answer *answer, int ring_fd);
