#include "remote/wait_label.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "remote/calls.h"
#include "remote/epoll_peers.h"
#include "remote/process.h"
#include "remote/task.h"
#include "remote/wait_address.h"

#define POLL_MAX  1024U
#define KINDS_MAX 8
#define SOCKET    "a socket"
/* The peers of more sockets are not looked up. */
#define SOCKETS_ASKED 4
/* FD_SETSIZE of the C library; larger sets are not read. */
#define SELECT_MAX 1024U

const char *wait_descriptor_kind(const char *link)
{
	static const struct {
		const char *begin, *kind;
	} kinds[] = {
		{ "socket:", SOCKET },
		{ "pipe:", "a pipe" },
		{ "anon_inode:[eventfd]", "an eventfd" },
		{ "anon_inode:[eventpoll]", "an epoll" },
		{ "anon_inode:[timerfd]", "a timer" },
		{ "anon_inode:[signalfd]", "a signalfd" },
		{ "anon_inode:[io_uring]", "a ring" },
		{ "anon_inode:[pidfd]", "a process" },
		{ "anon_inode:inotify", "an inotify" },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strncmp(link, kinds[i].begin, strlen(kinds[i].begin)) == 0)
			return kinds[i].kind;
	}
	return link;
}

static bool read_link(const struct remote *remote, int fd, char link[PATH_MAX])
{
	char path[48];
	ssize_t len;

	if (remote->core)
		return false;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)remote->pid, fd);
	len = readlink(path, link, PATH_MAX - 1);
	if (len < 0)
		return false;
	link[len] = '\0';
	return true;
}

/* The label being built. */
struct label {
	struct remote *remote;
	const struct task_call *call;
	bool is_brief;
	struct text *out;
};

/* Adds the socket's peer. */
static bool add_socket(const struct label *label, int fd, const char *link)
{
	struct socket_asked asked = { .pid = label->remote->pid, .fd = fd };

	return sscanf(link, "socket:[%" SCNu64 "]", &asked.inode) == 1 &&
	       sockets_add(&label->remote->sockets, &asked, monotonic_ns(), label->out);
}

static void add_descriptor(const struct label *label, int fd)
{
	char link[PATH_MAX];

	if (!read_link(label->remote, fd, link)) {
		if (!label->is_brief)
			text_addf(label->out, "descriptor %d", fd);
		return;
	}
	const char *kind = wait_descriptor_kind(link);

	if (!add_socket(label, fd, link))
		text_add_printable(label->out, kind, strlen(kind));
	if (kind != link && !label->is_brief)
		text_addf(label->out, ", descriptor %d", fd);
}

/* Counts of descriptors by kind, in order of appearance. */
struct tally {
	struct {
		const char *kind; /* a literal; all files count as "a file" */
		unsigned int count;
	} kinds[KINDS_MAX];
	size_t count;
	int first, last;
	unsigned int total;
	int sockets[SOCKETS_ASKED]; /* the first of them */
	unsigned int socket_count;
};

static void tally_add(struct tally *tally, const struct remote *remote, int fd)
{
	char link[PATH_MAX];
	const char *kind = "a descriptor";
	size_t i = 0;

	if (read_link(remote, fd, link)) {
		kind = wait_descriptor_kind(link);
		if (kind == link)
			kind = "a file";
	}
	while (i < tally->count && strcmp(tally->kinds[i].kind, kind) != 0)
		i++;
	if (i == KINDS_MAX)
		return;
	if (i == tally->count)
		tally->kinds[tally->count++].kind = kind;
	tally->kinds[i].count++;
	if (strcmp(kind, SOCKET) == 0 && tally->socket_count++ < SOCKETS_ASKED)
		tally->sockets[tally->socket_count - 1] = fd;
	if (tally->total++ == 0)
		tally->first = fd;
	tally->last = fd;
}

/* The only one that is connected to, or listens: beside it is what wakes the thread up. */
static bool add_only_peer(const struct label *label, const struct tally *tally)
{
	CLEANUP(text_done) struct text peer = { 0 };
	const struct label to_peer = { label->remote, label->call, label->is_brief, &peer };
	char link[PATH_MAX];
	unsigned int count = 0;

	if (tally->socket_count > SOCKETS_ASKED)
		return false;
	for (unsigned int i = 0; i < tally->socket_count; i++)
		count += read_link(label->remote, tally->sockets[i], link) &&
			 add_socket(&to_peer, tally->sockets[i], link);
	if (count == 1)
		text_add(label->out, text_string(&peer));
	return count == 1;
}

static void add_kind(struct text *out, const char *kind, unsigned int count)
{
	if (count == 0)
		return;
	text_add(out, out->len > 0 ? ", " : "");
	if (count == 1)
		text_add(out, kind);
	else /* without its article, in the plural */
		text_addf(out, "%u %ss", count, strchr(kind, ' ') + 1);
}

static void add_tally(const struct label *label, const struct tally *tally)
{

	if (tally->total == 1) {
		add_descriptor(label, tally->last);
		return;
	}
	const bool has_peer = add_only_peer(label, tally);

	for (size_t i = 0; i < tally->count; i++) {
		const char *kind = tally->kinds[i].kind;
		const bool is_named = has_peer && strcmp(kind, SOCKET) == 0;

		add_kind(label->out, kind, tally->kinds[i].count - (is_named ? 1 : 0));
	}
}

static void tally_poll(const struct label *label, struct tally *tally)
{
	const uint64_t at = label->call->arguments[0], count = label->call->arguments[1];
	struct pollfd entry;

	for (uint64_t i = 0; i < count && i < POLL_MAX; i++) {
		if (mem_read(&label->remote->mem, &entry, sizeof entry, at + i * sizeof entry) <
		    0)
			break;
		if (entry.fd >= 0)
			tally_add(tally, label->remote, entry.fd);
	}
}

static void tally_select(const struct label *label, struct tally *tally)
{
	const uint64_t *arguments = label->call->arguments;

	for (uint64_t fd = 0; fd < arguments[0] && fd < SELECT_MAX; fd++) {
		uint64_t bits = 0, word;

		for (int i = 1; i <= 3; i++) {
			if (arguments[i] != 0 &&
			    mem_read(&label->remote->mem, &word, sizeof word,
				     arguments[i] + fd / 64 * sizeof word) >= 0)
				bits |= word;
		}
		if (bits >> fd % 64 & 1)
			tally_add(tally, label->remote, (int)fd);
	}
}

/*
 * Up to 3.2, one of Ruby's threads that wait for a descriptor waits for Ruby's own eventfd as well,
 * by which others wake it.
 */
static void leave_out_rubys(const struct label *label, struct tally *tally)
{
	const char *own = "an eventfd";

	if (!label->remote->ruby || tally->total != 2 || tally->count != 2)
		return;
	/* select(2) has them in the order of their numbers. */
	if (strcmp(tally->kinds[1].kind, own) == 0)
		tally->last = tally->first;
	else if (strcmp(tally->kinds[0].kind, own) == 0)
		tally->kinds[0] = tally->kinds[1];
	else
		return;
	tally->count = tally->total = 1;
}

static void tally_descriptors(const struct label *label, const struct call *known,
			      struct tally *tally)
{
	if (known->on == CALL_ON_POLL)
		tally_poll(label, tally);
	else
		tally_select(label, tally);
	leave_out_rubys(label, tally);
}

/*
 * Adds how many descriptors an epoll watches, or, in brief, the peers among them: its fdinfo has
 * a line "tfd: …" for each.
 */
static void add_epoll(const struct label *label, int fd)
{
	struct remote *remote = label->remote;
	char file[32], text[65536];
	unsigned int count = 0;

	snprintf(file, sizeof file, "../../fdinfo/%d", fd);
	if (remote->core || (label->is_brief && !remote->has_few_descriptors) ||
	    task_read_text(remote->pid, remote->pid, file, text, sizeof text) < 0)
		return;
	if (label->is_brief) {
		epoll_peers_add(remote, text, label->out);
		return;
	}
	for (const char *at = text; (at = strstr(at, "tfd:")) != NULL; at++)
		count++;
	text_addf(label->out, "%u descriptor%s", count, count == 1 ? "" : "s");
}

static void add_time(const struct label *label, uint64_t at)
{
	const uint64_t *arguments = label->call->arguments;
	struct timespec time;

	if (at == 0 || label->is_brief ||
	    mem_read(&label->remote->mem, &time, sizeof time, at) < 0)
		return;
	/* With TIMER_ABSTIME the argument is a point in time, not a duration. */
	if (at == arguments[2] && (arguments[1] & TIMER_ABSTIME))
		return;
	text_addf(label->out, "%.6g s", (double)time.tv_sec + (double)time.tv_nsec / 1e9);
}

/* The files that splice(2) reads are not waited for: then it is what it writes to. */
static void add_spliced(const struct label *label)
{
	const uint64_t *arguments = label->call->arguments;
	char link[PATH_MAX];
	const bool is_of_file = read_link(label->remote, (int)arguments[0], link) &&
				wait_descriptor_kind(link) == link;

	add_descriptor(label, (int)arguments[is_of_file ? 2 : 0]);
}

/* As the program wrote it, which may be relative; nothing if it cannot be read whole. */
static void add_path(const struct label *label, uint64_t at)
{
	char path[PATH_MAX];

	for (size_t len = 0; len < sizeof path; len++) {
		if (mem_read(&label->remote->mem, &path[len], 1, at + len) < 0)
			return;
		if (path[len] != '\0')
			continue;
		text_add_printable(label->out, path, len);
		return;
	}
}

static void add_object(const struct label *label, const struct call *known)
{
	const uint64_t *arguments = label->call->arguments;
	const uint64_t argument = arguments[known->argument];
	struct tally tally = { 0 };

	switch ((enum call_on)known->on) {
	case CALL_ON_DESCRIPTOR:
		add_descriptor(label, (int)argument);
		break;
	case CALL_ON_EPOLL:
		add_epoll(label, (int)argument);
		break;
	case CALL_ON_POLL:
	case CALL_ON_SELECT:
		tally_descriptors(label, known, &tally);
		add_tally(label, &tally);
		break;
	case CALL_ON_TIME:
		add_time(label, argument);
		break;
	case CALL_ON_PROCESS:
		if ((int)argument > 0 && !label->is_brief)
			text_addf(label->out, "process %d", (int)argument);
		break;
	case CALL_ON_ADDRESS:
		wait_address_add(label->remote, argument, arguments[known->argument + 1],
				 label->out);
		if (label->out->len == 0)
			add_descriptor(label, (int)arguments[0]);
		break;
	case CALL_ON_SPLICE:
		add_spliced(label);
		break;
	case CALL_ON_PATH:
		add_path(label, argument);
		break;
	case CALL_ON_FUTEX:
	case CALL_ON_NOTHING:
		break;
	}
}

void wait_describe(struct remote *remote, const struct task_call *call, bool is_brief,
		   struct text *out)
{
	const struct call *known = call_find(call->number);
	CLEANUP(text_done) struct text object = { 0 };
	const struct label label = { remote, call, is_brief, &object };

	if (call->is_running || call->number < 0)
		return;
	if (!known) {
		text_addf(out, "system call %" PRId64, call->number);
		return;
	}
	add_object(&label, known);
	text_add(out, known->name);
	if (object.len > 0)
		text_addf(out, "(%s)", text_string(&object));
}

bool wait_has_descriptors(struct remote *remote, const struct task_call *call)
{
	const struct call *known = call_find(call->number);
	const struct label label = { .remote = remote, .call = call };
	struct tally tally = { 0 };

	if (!known || (known->on != CALL_ON_POLL && known->on != CALL_ON_SELECT))
		return true;
	tally_descriptors(&label, known, &tally);
	return tally.total > 0;
}
