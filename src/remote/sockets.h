/*
 * sockets - what the sockets of a process are connected to, or listen at, by the tables of its
 * network namespace (/proc/PID/net).
 *
 * The tables are read when a socket is asked for that they did not have, and kept: a socket's number
 * is never another one's while it is open.  Reading takes at most a tenth of the time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"

struct text;

struct socket_row {
	uint64_t inode;
	uint8_t address[16]; /* of the peer; IPv4's as ::ffff:1.2.3.4 */
	uint16_t port, local_port;
	bool is_listening;
	char *path; /* of a Unix socket that was bound; else NULL */
};

struct sockets {
	struct socket_row *rows;
	size_t count, capacity;
	struct table by_inode;  /* to the number of a row + 1 */
	struct table listening; /* ports */
	uint64_t since_ns, cost_ns;
};

/*
 * Adds "127.0.0.1:5432", "[::1]:80", "a client of port 8000", "port 8000" of one that listens, or
 * "/run/app.sock"; false, and nothing, if that is not known.
 */
bool sockets_add(struct sockets *sockets, pid_t pid, uint64_t inode, uint64_t now_ns,
		 struct text *out);
void sockets_done(struct sockets *sockets);

/* For sockets_add() and tests: the lines of net/tcp and its like, and of net/unix. */
void sockets_take_inet(struct sockets *sockets, const char *text);
void sockets_take_unix(struct sockets *sockets, const char *text);
