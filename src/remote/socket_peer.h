/*
 * socket_peer - what one socket of a process is connected to, asked through a duplicate of its
 * descriptor.
 *
 * pidfd_getfd(2), since Linux 5.6, needs the rights that reading the process's memory needs.
 * The duplicate is closed at once; the open socket is shared meanwhile, and not changed. This
 * takes microseconds; the tables of /proc take tens of milliseconds where there are thousands
 * of connections.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct socket_row {
	uint64_t inode;
	uint8_t address[16]; /* of the peer; IPv4 as ::ffff:1.2.3.4 */
	uint16_t port, local_port;
	bool is_listening;
	bool is_accepted; /* a Unix socket by accept(): path is its own */
	char *path;       /* of a Unix socket that was bound, or of its peer; else NULL */
};

enum socket_peer_answer {
	SOCKET_PEER_KNOWN,
	SOCKET_PEER_NONE,       /* unconnected, for good or for now */
	SOCKET_PEER_CONNECTING, /* to what only the tables of /proc say */
	SOCKET_PEER_OTHER,      /* the descriptor is not a socket's */
	SOCKET_PEER_REFUSED,    /* the kernel lacks the call, or forbids it */
};

/* fd: in the process; inode: must still be the descriptor's. Fills *row except its inode. */
enum socket_peer_answer socket_peer_ask(int pidfd, int fd, uint64_t inode,
					struct socket_row *row);
