#include "remote/sockets.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "remote/socket_peer.h"

/* Of one table's file: some hundred thousand sockets. */
#define TEXT_MAX (16U << 20)
/* Reading tables may take 1/PART of the time since the first request, and BURST_NS at once. */
#define PART     10U
#define BURST_NS 50000000ULL
/* Rows kept; of a server most are stale after a moment. */
#define ROWS_MOST 65536U
/* Listing the listening ports: how often, and how many bytes of a table. */
#define LISTED_NS   1000000000ULL
#define FIRST_BYTES 4096
/* include/net/tcp_states.h; of Unix sockets, the flag of those that listen. */
#define TCP_IS_LISTENING  10U
#define UNIX_IS_LISTENING 0x10000U

static struct socket_row *add(struct sockets *sockets, uint64_t inode)
{
	uint64_t *place = table_at(&sockets->by_inode, 0, inode, NULL);

	if (*place == 0) {
		sockets->rows = array_grow(sockets->rows, sockets->count, &sockets->capacity,
					   sizeof *sockets->rows);
		*place = ++sockets->count;
		sockets->rows[*place - 1] = (struct socket_row){ .inode = inode };
	}
	return &sockets->rows[*place - 1];
}

/* The address is one (IPv4) or four words in the machine's byte order, in hexadecimal. */
static bool read_address(const char *hex, size_t len, uint8_t out_address[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	uint32_t words[4];

	if (len != 8 && len != 32)
		return false;
	for (size_t i = 0; i < len / 8; i++)
		if (sscanf(hex + 8 * i, "%8" SCNx32, &words[i]) != 1)
			return false;
	if (len == 8)
		memcpy(out_address, mapped, sizeof mapped);
	memcpy(out_address + (len == 8 ? 12 : 0), words, len / 2);
	return true;
}

/* "0: 0100007F:1F90 0200007F:C350 01 …": local, peer, state; the inode is the tenth. */
static void take_inet_line(struct sockets *sockets, const char *line)
{
	char peer[33];
	unsigned int local_port, port, state;
	uint64_t inode;
	uint8_t address[16];

	if (sscanf(line,
		   " %*u: %*32[0-9A-Fa-f]:%x %32[0-9A-Fa-f]:%x %x %*s %*s %*s %*s %*s %" SCNu64,
		   &local_port, peer, &port, &state, &inode) != 5 ||
	    inode == 0 || !read_address(peer, strlen(peer), address))
		return;
	struct socket_row *row = add(sockets, inode);

	memcpy(row->address, address, sizeof address);
	row->port = (uint16_t)port;
	row->local_port = (uint16_t)local_port;
	row->is_listening = port == 0;
	if (state == TCP_IS_LISTENING)
		*table_at(&sockets->listening, 0, row->local_port, NULL) = 1;
}

static void take_lines(struct sockets *sockets, const char *text,
		       void (*take)(struct sockets *sockets, const char *line))
{
	while ((text = strchr(text, '\n')) != NULL && *++text)
		take(sockets, text);
}

void sockets_take_inet(struct sockets *sockets, const char *text)
{
	take_lines(sockets, text, take_inet_line);
}

/* "0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/app.sock" */
static void take_unix_line(struct sockets *sockets, const char *line)
{
	unsigned int flags;
	uint64_t inode;
	int begin = 0;

	if (sscanf(line, "%*[^:]: %*x %*x %x %*x %*x %" SCNu64 " %n", &flags, &inode, &begin) !=
		    2 ||
	    begin == 0 || inode == 0 || line[begin - 1] != ' ')
		return;
	struct socket_row *row = add(sockets, inode);

	free(row->path);
	row->path = xstrndup(line + begin, strcspn(line + begin, "\n"));
	row->is_listening = (flags & UNIX_IS_LISTENING) != 0;
}

void sockets_take_unix(struct sockets *sockets, const char *text)
{
	take_lines(sockets, text, take_unix_line);
}

static void clear(struct sockets *sockets)
{
	for (size_t i = 0; i < sockets->count; i++)
		free(sockets->rows[i].path);
	sockets->count = 0;
	table_done(&sockets->by_inode);
	table_done(&sockets->listening);
}

/* Reads a file of /proc up to the limit: it reports no size. */
static void read_file(const char *path, struct text *out)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char bytes[16384];
	ssize_t len;

	while (fd >= 0 && out->len < TEXT_MAX && (len = read(fd, bytes, sizeof bytes)) > 0)
		text_add_bytes(out, bytes, (size_t)len);
}

static const struct socket_row *find(struct sockets *sockets, uint64_t inode)
{
	uint64_t place;

	return table_get(&sockets->by_inode, 0, inode, &place) ? &sockets->rows[place - 1]
							       : NULL;
}

/*
 * Reads tables until the socket is found: most are in the first, and reading one takes a
 * millisecond.
 */
static void read_tables(struct sockets *sockets, pid_t pid, uint64_t inode)
{
	static const struct {
		const char *name;
		void (*take)(struct sockets *sockets, const char *text);
	} tables[] = {
		{ "tcp", sockets_take_inet },  { "tcp6", sockets_take_inet },
		{ "udp", sockets_take_inet },  { "udp6", sockets_take_inet },
		{ "unix", sockets_take_unix },
	};

	if (sockets->count > ROWS_MOST)
		clear(sockets);
	for (size_t i = 0; i < sizeof tables / sizeof *tables && !find(sockets, inode); i++) {
		CLEANUP(text_done) struct text text = { 0 };
		char path[48];

		snprintf(path, sizeof path, "/proc/%d/net/%s", (int)pid, tables[i].name);
		read_file(path, &text);
		tables[i].take(sockets, text_string(&text));
	}
}

static void add_peer(const struct socket_row *row, struct text *out)
{
	const struct in6_addr *six = (const void *)row->address;
	char text[INET6_ADDRSTRLEN];

	if (IN6_IS_ADDR_V4MAPPED(six)) {
		inet_ntop(AF_INET, row->address + 12, text, sizeof text);
		text_addf(out, "%s:%u", text, row->port);
	} else {
		inet_ntop(AF_INET6, six, text, sizeof text);
		text_addf(out, "[%s]:%u", text, row->port);
	}
}

/* Finds the ports that are listened at: the kernel lists these sockets first. */
static void read_listening(struct sockets *sockets, pid_t pid, uint64_t now_ns)
{
	static const char *const tables[] = { "tcp", "tcp6" };

	if (sockets->listed_ns != 0 && now_ns < sockets->listed_ns + LISTED_NS)
		return;
	sockets->listed_ns = now_ns;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		char path[48], bytes[FIRST_BYTES];
		ssize_t len;

		snprintf(path, sizeof path, "/proc/%d/net/%s", (int)pid, tables[i]);
		CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

		len = fd >= 0 ? read(fd, bytes, sizeof bytes - 1) : 0;
		if (len <= 0)
			continue;
		bytes[len] = '\0';
		sockets_take_inet(sockets, bytes);
	}
}

static bool is_listened_at(struct sockets *sockets, pid_t pid, uint16_t port, uint64_t now_ns)
{
	uint64_t unused;

	if (table_get(&sockets->listening, 0, port, &unused))
		return true;
	if (sockets->pidfd <= 0)
		return false;
	read_listening(sockets, pid, now_ns);
	return table_get(&sockets->listening, 0, port, &unused);
}

/* Reads tables if there is time for it. */
static bool read_in_time(struct sockets *sockets, const struct socket_asked *asked,
			 uint64_t now_ns)
{
	if (sockets->since_ns == 0)
		sockets->since_ns = now_ns;
	/* A thread is asked once per wait, and several may be at one tick. */
	if (sockets->cost_ns >= BURST_NS + (now_ns - sockets->since_ns) / PART) {
		sockets->is_short = true;
		return false;
	}
	const uint64_t begin = monotonic_ns();

	read_tables(sockets, asked->pid, asked->inode);
	sockets->cost_ns += monotonic_ns() - begin;
	return true;
}

/* NULL: this way is refused, or the socket is not connected yet. */
static const struct socket_row *ask(struct sockets *sockets, const struct socket_asked *asked,
				    uint64_t now_ns)
{
	struct socket_row found = { .inode = asked->inode };
	enum socket_peer_answer answer;

	if (sockets->pidfd == 0)
		sockets->pidfd = (int)syscall(SYS_pidfd_open, asked->pid, 0) + 1;
	if (sockets->pidfd <= 0) {
		sockets->pidfd = -1;
		return NULL;
	}
	answer = socket_peer_ask(sockets->pidfd - 1, asked->fd, asked->inode, &found);
	if (answer == SOCKET_PEER_REFUSED) {
		close(sockets->pidfd - 1);
		sockets->pidfd = -1;
	}
	if (answer == SOCKET_PEER_CONNECTING)
		return read_in_time(sockets, asked, now_ns) ? find(sockets, asked->inode)
							    : NULL;
	if (answer != SOCKET_PEER_KNOWN && answer != SOCKET_PEER_OTHER)
		return NULL;
	if (sockets->count > ROWS_MOST)
		clear(sockets);
	struct socket_row *row = add(sockets, asked->inode);

	free(row->path);
	*row = found;
	return row;
}

static const struct socket_row *look_up(struct sockets *sockets,
					const struct socket_asked *asked, uint64_t now_ns)
{
	const struct socket_row *row = find(sockets, asked->inode);

	if (!row)
		row = ask(sockets, asked, now_ns);
	if (row || sockets->pidfd > 0)
		return row;
	/* Remembers also that it is in no table. */
	return read_in_time(sockets, asked, now_ns) ? add(sockets, asked->inode) : NULL;
}

bool sockets_add(struct sockets *sockets, const struct socket_asked *asked, uint64_t now_ns,
		 struct text *out)
{
	const struct socket_row *row = look_up(sockets, asked, now_ns);

	if (!row || (!row->path && row->port == 0 && row->local_port == 0))
		return false;
	const struct socket_row known = *row; /* a copy: rows may move while ports are listed */

	if (known.path) {
		text_add(out, known.is_listening  ? "connections to "
			      : known.is_accepted ? "a client of "
						  : "");
		text_add_printable(out, known.path, strlen(known.path));
	} else if (known.is_listening) {
		text_addf(out, "port %u", known.local_port);
	} else if (is_listened_at(sockets, asked->pid, known.local_port, now_ns)) {
		text_addf(out, "a client of port %u", known.local_port);
	} else {
		add_peer(&known, out);
	}
	return true;
}

bool sockets_add_peer(struct sockets *sockets, const struct socket_asked *asked,
		      uint64_t now_ns, struct text *out)
{
	const struct socket_row *row = find(sockets, asked->inode);

	if (!row && sockets->pidfd >= 0)
		row = ask(sockets, asked, now_ns);
	if (!row || row->is_listening || row->is_accepted || (!row->path && row->port == 0))
		return false;
	const struct socket_row known = *row;

	if (!known.path && is_listened_at(sockets, asked->pid, known.local_port, now_ns))
		return false;
	if (known.path)
		text_add_printable(out, known.path, strlen(known.path));
	else
		add_peer(&known, out);
	return true;
}

void sockets_done(struct sockets *sockets)
{
	if (sockets->pidfd > 0)
		close(sockets->pidfd - 1);
	clear(sockets);
	free(sockets->rows);
	*sockets = (struct sockets){ 0 };
}
