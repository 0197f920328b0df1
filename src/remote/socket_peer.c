#include "remote/socket_peer.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_un local;
	struct sockaddr_storage room;
};

static bool is_inet(const union address *address)
{
	return address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6;
}

/* IPv4 addresses as ::ffff:1.2.3.4. */
static uint16_t read_inet(const union address *address, uint8_t out_address[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (address->any.sa_family == AF_INET6) {
		memcpy(out_address, &address->six.sin6_addr, 16);
		return ntohs(address->six.sin6_port);
	}
	memcpy(out_address, mapped, sizeof mapped);
	memcpy(out_address + sizeof mapped, &address->four.sin_addr, 4);
	return ntohs(address->four.sin_port);
}

/* "/run/app.sock", "@abstract"; NULL: it has no name. */
static char *path_of(const union address *address, socklen_t len)
{
	const size_t head = offsetof(struct sockaddr_un, sun_path);
	const char *path = address->local.sun_path;

	if (address->any.sa_family != AF_UNIX || len <= head)
		return NULL;
	if (*path == '\0')
		return xasprintf("@%.*s", (int)(len - head - 1), path + 1);
	return xstrndup(path, strnlen(path, len - head));
}

static bool is_stream(int copy)
{
	socklen_t size = sizeof(int);
	int type = 0;

	return getsockopt(copy, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

static bool is_connecting(int copy)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof info;

	return getsockopt(copy, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
	       info.tcpi_state == TCP_SYN_SENT;
}

static enum socket_peer_answer ask(int copy, struct socket_row *row)
{
	union address own = { 0 }, peer = { 0 };
	socklen_t own_len = sizeof own, peer_len = sizeof peer, size = sizeof(int);
	int is_listening = 0;
	uint8_t unused[16];

	if (getsockname(copy, &own.any, &own_len) < 0)
		return SOCKET_PEER_NONE;
	const bool has_peer = getpeername(copy, &peer.any, &peer_len) == 0;

	getsockopt(copy, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size);
	row->is_listening = is_listening != 0;
	if (is_inet(&own)) {
		row->local_port = read_inet(&own, unused);
		if (has_peer && is_inet(&peer))
			row->port = read_inet(&peer, row->address);
		else if (!row->is_listening && is_stream(copy))
			return is_connecting(copy) ? SOCKET_PEER_CONNECTING : SOCKET_PEER_NONE;
		else
			row->is_listening = row->local_port != 0;
		return row->port != 0 || row->is_listening ? SOCKET_PEER_KNOWN
							   : SOCKET_PEER_NONE;
	}
	row->path = path_of(&own, own_len);
	row->is_accepted = row->path && has_peer && !row->is_listening;
	if (!row->path && has_peer)
		row->path = path_of(&peer, peer_len);
	return row->path ? SOCKET_PEER_KNOWN : SOCKET_PEER_NONE;
}

enum socket_peer_answer socket_peer_ask(int pidfd, int fd, uint64_t inode,
					struct socket_row *row)
{
	CLEANUP(closep) int copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	struct stat status;

	if (copy < 0)
		return errno == EBADF || errno == ESRCH ? SOCKET_PEER_NONE
							: SOCKET_PEER_REFUSED;
	if (fstat(copy, &status) < 0 || status.st_ino != inode)
		return SOCKET_PEER_NONE;
	return S_ISSOCK(status.st_mode) ? ask(copy, row) : SOCKET_PEER_OTHER;
}
