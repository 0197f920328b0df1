/*
 * sockets - what the sockets of a process are connected to, or listen at.
 *
 * Each is asked once (socket_peer.h) and kept: its number is never another one's while it is open.
 * Where that is refused the tables of the process's network namespace (/proc/PID/net) serve, for a
 * tenth of the time at most; which ports are listened at is in the beginning of these.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "remote/socket_peer.h"

struct text;

struct sockets {
	struct socket_row *rows;
	size_t count, capacity;
	struct table by_inode;  /* to the number of a row + 1 */
	struct table listening; /* ports */
	int pidfd;              /* that it is asked by, + 1; 0: not opened yet, -1: refused */
	uint64_t since_ns, cost_ns;
	uint64_t listed_ns; /* ports that are listened at were read last */
	bool is_short; /* there was no time for one that was asked for; the caller clears it */
};

struct socket_asked {
	pid_t pid;
	int fd; /* of the process */
	uint64_t inode;
};

/*
 * Adds "127.0.0.1:5432", "[::1]:80", "a client of port 8000", "port 8000" of one that listens,
 * "/run/app.sock", "a client of /run/app.sock", "connections to /run/app.sock"; false, and
 * nothing, if that is not known.
 */
bool sockets_add(struct sockets *sockets, const struct socket_asked *asked, uint64_t now_ns,
		 struct text *out);
void sockets_done(struct sockets *sockets);

/* For sockets_add() and tests: the lines of net/tcp and its like, and of net/unix. */
void sockets_take_inet(struct sockets *sockets, const char *text);
void sockets_take_unix(struct sockets *sockets, const char *text);
