/*
 * sockets - what the sockets of a process are connected to, or listen at.
 *
 * Each socket is asked once (socket_peer.h) and cached: its inode is not reused while it is
 * open. What is not a socket is cached as such: event loops also watch pipes and eventfds. Where
 * asking is refused, and for connections that are being made, the tables of the process's network
 * namespace (/proc/PID/net) are read, for at most a tenth of the time; their beginning also lists
 * the ports that are listened at.
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
	int pidfd;              /* of the process, + 1; 0: not opened yet, -1: refused */
	uint64_t since_ns, cost_ns;
	uint64_t listed_ns; /* when the listening ports were last read */
	bool is_short;      /* a socket was skipped for lack of time; the caller clears it */
};

struct socket_asked {
	pid_t pid;
	int fd; /* in the process */
	uint64_t inode;
};

/*
 * Adds "127.0.0.1:5432", "[::1]:80", "a client of port 8000", "port 8000" (it listens),
 * "/run/app.sock", "a client of /run/app.sock" or "connections to /run/app.sock"; false, and
 * nothing is added, if unknown.
 */
bool sockets_add(struct sockets *sockets, const struct socket_asked *asked, uint64_t now_ns,
		 struct text *out);
/*
 * The same of a connection that the process made or is making, "127.0.0.1:5432" or
 * "/run/app.sock"; false for others, and where sockets cannot be asked (then no tables are read).
 */
bool sockets_add_peer(struct sockets *sockets, const struct socket_asked *asked,
		      uint64_t now_ns, struct text *out);
void sockets_done(struct sockets *sockets);

/* For sockets_add() and tests: parse the lines of net/tcp, net/tcp6, and of net/unix. */
void sockets_take_inet(struct sockets *sockets, const char *text);
void sockets_take_unix(struct sockets *sockets, const char *text);
