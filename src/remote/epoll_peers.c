#include "remote/epoll_peers.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "remote/process.h"

/* A loop with more descriptors is not looked at: it is read at each of its waits. */
#define WATCHED_MOST 64
/* More peers are counted. */
#define NAMED_MOST 2

struct peers {
	char *names[WATCHED_MOST]; /* each once */
	size_t count;
};

static void take_name(struct peers *peers, const char *name)
{
	for (size_t i = 0; i < peers->count; i++) {
		if (strcmp(peers->names[i], name) == 0)
			return;
	}
	peers->names[peers->count++] = xstrdup(name);
}

/* "tfd:  5 events:  19 data:  5  pos:0 ino:2c3a sdev:8": of Linux 4.13 and later. */
static void take_line(struct remote *remote, const char *line, struct peers *peers)
{
	struct socket_asked asked = { .pid = remote->pid };
	CLEANUP(text_done) struct text name = { 0 };
	unsigned int events;

	if (sscanf(line, "tfd: %d events: %x data: %*x pos:%*d ino:%" SCNx64, &asked.fd,
		   &events, &asked.inode) == 3 &&
	    (events & (EPOLLIN | EPOLLOUT)) &&
	    sockets_add_peer(&remote->sockets, &asked, monotonic_ns(), &name))
		take_name(peers, text_string(&name));
}

static size_t count_watched(const char *at)
{
	size_t count = 0;

	for (; (at = strstr(at, "tfd:")) != NULL; at++)
		count++;
	return count;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void epoll_peers_add(struct remote *remote, const char *watched, struct text *out)
{
	struct peers peers = { .count = 0 };

	if (count_watched(watched) > WATCHED_MOST)
		return;
	for (const char *at = watched; (at = strstr(at, "tfd:")) != NULL; at++)
		take_line(remote, at, &peers);
	qsort(peers.names, peers.count, sizeof *peers.names, compare_names);
	if (peers.count > NAMED_MOST)
		text_addf(out, "%zu peers", peers.count);
	for (size_t i = 0; i < peers.count; i++) {
		if (peers.count <= NAMED_MOST)
			text_addf(out, "%s%s", i > 0 ? ", " : "", peers.names[i]);
		freep(&peers.names[i]);
	}
}
