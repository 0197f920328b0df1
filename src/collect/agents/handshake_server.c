#include "collect/agents/handshake_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/system/socket_folder.h"

#define BACKLOG 1024
/* A connection that was silent for so long is closed if another needs its descriptor. */
#define PATIENCE_NS 50000000

/*
 * A connection whose handshake is still to come: connecting wakes the recorder, which often
 * runs before the agent goes on, and on a busy machine that may take long.
 */
struct silent {
	int connection;
	struct handshake_peer peer;
	uint64_t since_ns;
};

struct handshake_server {
	int fd;
	int ready_fd;        /* epoll: fd and the silent connections */
	uint64_t starved_ns; /* when a descriptor was last missing; 0: never */
	int spare_fd; /* closed to accept an agent when no descriptor is free; -1: none */
	struct socket_folder folder;
	char agent_link[SOCKET_FOLDER_PATH + sizeof SOCKET_FOLDER_AGENT_LINK]; /* "": none */
	struct sockaddr_un address;
	struct silent *silent;
	size_t silent_count, silent_capacity, foreign_count;
};

static int server_watch(struct handshake_server *server, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(server->ready_fd, EPOLL_CTL_ADD, fd, &event);
}

static int server_listen(struct handshake_server *server, bool is_trace, struct error *err)
{
	server->address.sun_family = AF_UNIX;
	snprintf(server->address.sun_path, sizeof server->address.sun_path, "%s%s",
		 server->folder.path, is_trace ? HANDSHAKE_TRACE_SOCKET : HANDSHAKE_SOCKET);
	server->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->fd < 0 ||
	    bind(server->fd, (const struct sockaddr *)&server->address,
		 sizeof server->address) < 0 ||
	    (geteuid() == 0 && chmod(server->address.sun_path, 0666) < 0) ||
	    listen(server->fd, BACKLOG) < 0)
		return error_errno(err, -errno, "cannot listen at %s",
				   server->address.sun_path);
	server->ready_fd = epoll_create1(EPOLL_CLOEXEC);
	if (server->ready_fd < 0 || server_watch(server, server->fd) < 0)
		return error_errno(err, -errno, "cannot wait for agents with epoll");
	return 0;
}

int handshake_server_open(bool is_trace, struct handshake_server **out_server,
			  struct error *err)
{
	struct handshake_server *server = xzalloc(sizeof *server);

	server->fd = -1;
	server->folder.lock_fd = -1;
	server->ready_fd = -1;
	server->spare_fd = -1;
	int rc = socket_folder_make(&server->folder, err);

	if (rc == 0)
		rc = server_listen(server, is_trace, err);
	if (rc < 0) {
		handshake_server_close(server);
		return rc;
	}
	*out_server = server;
	return 0;
}

void handshake_server_close(struct handshake_server *server)
{
	if (server == NULL)
		return;
	for (size_t i = 0; i < server->silent_count; i++)
		close(server->silent[i].connection);
	free(server->silent);
	if (server->ready_fd >= 0)
		close(server->ready_fd);
	if (server->fd >= 0)
		close(server->fd);
	if (server->spare_fd >= 0)
		close(server->spare_fd);
	if (server->address.sun_path[0] != '\0')
		unlink(server->address.sun_path);
	if (server->agent_link[0] != '\0')
		unlink(server->agent_link);
	socket_folder_remove(&server->folder);
	free(server);
}

const char *handshake_server_path(const struct handshake_server *server)
{
	return server->address.sun_path;
}

/* In LD_PRELOAD a blank and a colon both end a name, and cannot be quoted (ld.so(8)). */
int handshake_server_link_agent(struct handshake_server *server, const char *agent_path,
				const char **out_path, struct error *err)
{
	char link[sizeof server->agent_link];

	*out_path = agent_path;
	if (strpbrk(agent_path, " :") == NULL)
		return 0;
	snprintf(link, sizeof link, "%s" SOCKET_FOLDER_AGENT_LINK, server->folder.path);
	if (symlink(agent_path, link) < 0)
		return error_errno(err, -errno, "cannot make a link to %s", agent_path);
	memcpy(server->agent_link, link, sizeof link);
	*out_path = server->agent_link;
	return 0;
}

int handshake_server_fd(const struct handshake_server *server)
{
	return server->ready_fd;
}

bool handshake_server_may_hear(uid_t uid, uid_t own, bool *out_is_foreign)
{
	*out_is_foreign = uid != own && uid != 0;
	return !*out_is_foreign || own == 0;
}

static bool is_one_of_ours(int connection, struct handshake_peer *out_peer)
{
	struct ucred peer;
	socklen_t len = sizeof peer;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return false;
	out_peer->pid = peer.pid;
	return handshake_server_may_hear(peer.uid, geteuid(), &out_peer->is_foreign);
}

/* Stops watching the connection; returns its agent's process. */
static struct handshake_peer server_forget(struct handshake_server *server, int connection)
{
	size_t i = 0;

	epoll_ctl(server->ready_fd, EPOLL_CTL_DEL, connection, NULL);
	while (server->silent[i].connection != connection)
		i++;
	const struct handshake_peer peer = server->silent[i].peer;

	server->silent[i] = server->silent[--server->silent_count];
	server->foreign_count -= peer.is_foreign;
	return peer;
}

/*
 * Closes the connection that has been silent for longest, if that is long: a stopped agent may
 * never send its handshake.
 */
static bool server_turn_away_one(struct handshake_server *server, bool must_be_foreign)
{
	const struct silent *oldest = NULL;

	for (size_t i = 0; i < server->silent_count; i++) {
		if (must_be_foreign && !server->silent[i].peer.is_foreign)
			continue;
		if (oldest == NULL || server->silent[i].since_ns < oldest->since_ns)
			oldest = &server->silent[i];
	}
	if (oldest == NULL || monotonic_ns() - oldest->since_ns < PATIENCE_NS)
		return false;
	const int connection = oldest->connection;

	server_forget(server, connection);
	close(connection);
	return true;
}

/* Accepts the next agent, even without a free descriptor, since it waits for an answer. */
static int server_accept(struct handshake_server *server)
{
	if (server->spare_fd < 0)
		server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int connection = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);

	if (connection < 0 && (errno == EMFILE || errno == ENFILE) && server->spare_fd >= 0) {
		close(server->spare_fd);
		server->spare_fd = -1;
		connection = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);
	}
	if (connection < 0 && (errno == EMFILE || errno == ENFILE)) {
		server->starved_ns = monotonic_ns();
		if (server_turn_away_one(server, false))
			connection = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);
	}
	return connection;
}

/* Limits the silent connections of other users, which can all connect to root's socket. */
static bool has_place_for(struct handshake_server *server, const struct handshake_peer *peer)
{
	return !peer->is_foreign || server->foreign_count < HANDSHAKE_SERVER_FOREIGN ||
	       server_turn_away_one(server, true);
}

static void server_keep(struct handshake_server *server, const struct silent *silent)
{
	server->foreign_count += silent->peer.is_foreign;
	server->silent = array_grow(server->silent, server->silent_count,
				    &server->silent_capacity, sizeof *server->silent);
	server->silent[server->silent_count++] = *silent;
}

void handshake_server_add(struct handshake_server *server, pid_t pid, int connection)
{
	const struct silent silent = { .connection = connection,
				       .peer = { .pid = pid },
				       .since_ns = monotonic_ns() };

	if (server_watch(server, connection) < 0)
		close(connection);
	else
		server_keep(server, &silent);
}

/*
 * Accepts the next agent that has connected; false if there is none, or no descriptor for it.
 */
static bool server_let_in(struct handshake_server *server)
{
	const int connection = server_accept(server);
	struct silent silent = { .connection = connection, .since_ns = monotonic_ns() };

	if (connection < 0)
		return false;
	if (!is_one_of_ours(connection, &silent.peer) || !has_place_for(server, &silent.peer) ||
	    server_watch(server, connection) < 0) {
		close(connection);
		return true;
	}
	server_keep(server, &silent);
	return true;
}

int handshake_server_accept(struct handshake_server *server,
			    struct handshake_request *out_request,
			    struct handshake_peer *out_peer, int *out_connection)
{
	struct handshake_request request;
	struct epoll_event event;
	bool has_all = false;

	/* Of several ready descriptors epoll returns each in turn. */
	while (epoll_wait(server->ready_fd, &event, 1, 0) == 1) {
		const int fd = event.data.fd;

		if (fd == server->fd) {
			if (has_all)
				return 0;
			has_all = !server_let_in(server);
			continue;
		}
		const struct handshake_peer peer = server_forget(server, fd);

		if (recv(fd, &request, sizeof request, MSG_DONTWAIT) !=
			    (ssize_t)sizeof request ||
		    request.magic != HANDSHAKE_MAGIC) {
			close(fd);
			continue;
		}
		*out_request = request;
		*out_peer = peer;
		*out_connection = fd;
		return 1;
	}
	return 0;
}

static bool has_spoken(int connection)
{
	char byte;

	return recv(connection, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) > 0;
}

const char *handshake_server_why_unanswered(struct handshake_server *server, pid_t pid,
					    uint64_t start_ns)
{
	while (server_let_in(server))
		;
	for (size_t i = 0; i < server->silent_count; i++) {
		if (server->silent[i].peer.pid == pid &&
		    has_spoken(server->silent[i].connection))
			return HANDSHAKE_SERVER_TOO_LATE;
	}
	return server->starved_ns >= start_ns && server->starved_ns != 0
		       ? HANDSHAKE_SERVER_NO_DESCRIPTORS
		       : NULL;
}

int handshake_server_answer(int connection, const struct handshake_answer *answer, int ring_fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)answer, .iov_len = sizeof *answer };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (ring_fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &ring_fd, sizeof ring_fd);
		message.msg_control = &control;
		message.msg_controllen = sizeof control;
	}
	ssize_t sent = sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	int rc = sent == (ssize_t)sizeof *answer ? 0 : -errno;

	close(connection);
	return rc;
}
