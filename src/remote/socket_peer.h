/*
 * socket_peer - what one socket of a process is connected to, asked of a copy of its descriptor.
 *
 * pidfd_getfd(2), Linux 5.6 and later, with the rights that reading the process's memory needs.  The
 * copy is closed at once: it shares nothing with the process but the open socket, of which nothing
 * is changed.  It takes microseconds; the tables of /proc take tens of milliseconds where there
 * are thousands of connections.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct socket_row {
	uint64_t inode;
	uint8_t address[16]; /* of the peer; IPv4's as ::ffff:1.2.3.4 */
	uint16_t port, local_port;
	bool is_listening;
	bool is_accepted; /* of a Unix socket: the path is its own */
	char *path;       /* of a Unix socket that was bound, or of its peer; else NULL */
};

enum socket_peer_answer {
	SOCKET_PEER_KNOWN,
	SOCKET_PEER_NONE,    /* neither name nor peer, and never one, or not yet */
	SOCKET_PEER_REFUSED, /* the kernel has no such call, or it is not allowed */
};

/* fd: of the process; inode: which must be what that is.  Fills *row but for its inode. */
enum socket_peer_answer socket_peer_ask(int pidfd, int fd, uint64_t inode,
					struct socket_row *row);
