/*
 * hello_server - where agents find the recorder: a socket in a folder in which only this user can
 * make names (socket_folder.h).
 *
 * It hears agents of its own user's and root's.  A recorder of root's also hears others, since a
 * program of root's may give up its user; these have to be of the tree that it records.
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

/* What has said hello, by its credentials when it connected (unix(7), SO_PEERCRED). */
struct hello_peer {
	pid_t pid;       /* as the recorder sees it */
	bool is_foreign; /* neither of the recorder's user nor of root's: it must be of the tree */
};

/*
 * Takes the next hello that waits: its connection, and the agent's process.  1; 0 when none
 * waits.  Strangers (another user, a broken hello) are turned away; an agent that has connected
 * and not spoken yet has all the time it needs, unless descriptors run out, or there are
 * HELLO_SERVER_FOREIGN such of other users', and delays no other.
 */
int hello_server_accept(struct hello_server *server, struct handshake_hello *out_hello,
			struct hello_peer *out_peer, int *out_connection);
/*
 * An agent of this process, of which the caller has made sure, speaks on a connection that needs no
 * path: it is taken (hello_server_accept() gives it back when it has spoken).
 */
void hello_server_add(struct hello_server *server, pid_t pid, int connection);
#define HELLO_SERVER_FOREIGN 64
/*
 * Why an agent of this process, which began at start_ns and has ended, was not answered: it waits
 * here still, or for want of descriptors since then it could not be taken in.  NULL: it did not come.
 */
const char *hello_server_why_unanswered(struct hello_server *server, pid_t pid,
					uint64_t start_ns);
#define HELLO_SERVER_TOO_LATE       "the recorder was too late to answer it"
#define HELLO_SERVER_NO_DESCRIPTORS "no file descriptors left for it"
/* Whether a recorder of `own` may hear an agent of `uid`; *out_is_foreign as struct hello_peer. */
bool hello_server_may_hear(uid_t uid, uid_t own, bool *out_is_foreign);
/* Answers and closes the connection; ring_fd is -1 for HANDSHAKE_LEAVE and stays the
 * caller's.  -errno when the agent has given up waiting. */
int hello_server_answer(int connection, const struct handshake_answer *answer, int ring_fd);
