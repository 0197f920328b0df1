#include "remote/wait.h"

#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/calls.h"
#include "remote/process.h"
#include "remote/task.h"

#define POLL_MAX  1024U
#define KINDS_MAX 8
/* fd_set of the C library; larger ones are not looked at. */
#define SELECT_MAX 1024U

/* The lock word of a mutex of glibc's for which somebody waits (lowlevellock.h). */
#define LOCKED_WAITED_FOR 2
/* pthread_mutex_t: lock, count, owner, nusers, kind (glibc, struct_mutex.h). */
struct mutex {
	int32_t lock;
	uint32_t count;
	int32_t owner;
	uint32_t users;
	int32_t kind;
};
/* PTHREAD_MUTEX_KIND_MASK_NP and the bits of robust, priority and elision. */
#define MUTEX_KINDS 0x7ff

const char *wait_descriptor_kind(const char *link)
{
	static const struct {
		const char *begin, *kind;
	} kinds[] = {
		{ "socket:", "a socket" },
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

static void add_descriptor(const struct remote *remote, int fd, struct text *out)
{
	char link[PATH_MAX];

	if (!read_link(remote, fd, link)) {
		text_addf(out, "descriptor %d", fd);
		return;
	}
	const char *kind = wait_descriptor_kind(link);

	text_add_printable(out, kind, strlen(kind));
	if (kind != link)
		text_addf(out, ", descriptor %d", fd);
}

/* Descriptors by what they are, in the order they came. */
struct tally {
	struct {
		const char *kind; /* a literal; files are "a file" */
		unsigned int count;
	} kinds[KINDS_MAX];
	size_t count;
	int last;
	unsigned int total;
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
	tally->last = fd;
	tally->total++;
}

static void add_tally(const struct remote *remote, const struct tally *tally, struct text *out)
{
	if (tally->total == 1) {
		add_descriptor(remote, tally->last, out);
		return;
	}
	for (size_t i = 0; i < tally->count; i++) {
		const char *kind = tally->kinds[i].kind;

		text_add(out, i > 0 ? ", " : "");
		if (tally->kinds[i].count == 1)
			text_add(out, kind);
		else /* without its article, in the plural */
			text_addf(out, "%u %ss", tally->kinds[i].count, strchr(kind, ' ') + 1);
	}
}

static void add_poll(struct remote *remote, uint64_t at, uint64_t count, struct text *out)
{
	struct tally tally = { 0 };
	struct pollfd entry;

	for (uint64_t i = 0; i < count && i < POLL_MAX; i++) {
		if (mem_read(&remote->mem, &entry, sizeof entry, at + i * sizeof entry) < 0)
			break;
		if (entry.fd >= 0)
			tally_add(&tally, remote, entry.fd);
	}
	add_tally(remote, &tally, out);
}

static void add_select(struct remote *remote, const struct task_call *call, struct text *out)
{
	struct tally tally = { 0 };

	for (uint64_t fd = 0; fd < call->arguments[0] && fd < SELECT_MAX; fd++) {
		uint64_t bits = 0, word;

		for (int i = 1; i <= 3; i++) {
			if (call->arguments[i] != 0 &&
			    mem_read(&remote->mem, &word, sizeof word,
				     call->arguments[i] + fd / 64 * sizeof word) >= 0)
				bits |= word;
		}
		if (bits >> fd % 64 & 1)
			tally_add(&tally, remote, (int)fd);
	}
	add_tally(remote, &tally, out);
}

/* How many descriptors an epoll watches: "tfd: …" for each. */
static void add_epoll(const struct remote *remote, int fd, struct text *out)
{
	char file[32], text[65536];
	unsigned int count = 0;

	snprintf(file, sizeof file, "../../fdinfo/%d", fd);
	if (remote->core ||
	    task_read_text(remote->pid, remote->pid, file, text, sizeof text) < 0)
		return;
	for (const char *at = text; (at = strstr(at, "tfd:")) != NULL; at++)
		count++;
	text_addf(out, "%u descriptor%s", count, count == 1 ? "" : "s");
}

static void add_time(struct remote *remote, const struct task_call *call, uint64_t at,
		     struct text *out)
{
	struct timespec time;

	if (at == 0 || mem_read(&remote->mem, &time, sizeof time, at) < 0)
		return;
	/* clock_nanosleep(clock, TIMER_ABSTIME, …): not how long, but until when. */
	if (at == call->arguments[2] && (call->arguments[1] & TIMER_ABSTIME))
		return;
	text_addf(out, "%.6g s", (double)time.tv_sec + (double)time.tv_nsec / 1e9);
}

static void add_object(struct remote *remote, const struct task_call *call,
		       const struct call *known, struct text *out)
{
	const uint64_t argument = call->arguments[known->argument];

	switch ((enum call_on)known->on) {
	case CALL_ON_DESCRIPTOR:
		add_descriptor(remote, (int)argument, out);
		break;
	case CALL_ON_EPOLL:
		add_epoll(remote, (int)argument, out);
		break;
	case CALL_ON_POLL:
		add_poll(remote, argument, call->arguments[1], out);
		break;
	case CALL_ON_SELECT:
		add_select(remote, call, out);
		break;
	case CALL_ON_TIME:
		add_time(remote, call, argument, out);
		break;
	case CALL_ON_PROCESS:
		if ((int)argument > 0)
			text_addf(out, "process %d", (int)argument);
		break;
	case CALL_ON_FUTEX:
	case CALL_ON_NOTHING:
		break;
	}
}

void wait_describe(struct remote *remote, const struct task_call *call, struct text *out)
{
	const struct call *known = call_find(call->number);
	CLEANUP(text_done) struct text object = { 0 };

	if (call->is_running || call->number < 0)
		return;
	if (!known) {
		text_addf(out, "system call %" PRId64, call->number);
		return;
	}
	add_object(remote, call, known, &object);
	text_add(out, known->name);
	if (object.len > 0)
		text_addf(out, "(%s)", text_string(&object));
}

struct wait_lock wait_find_lock(struct remote *remote, const struct task_call *call)
{
	const struct call *known = call_find(call->number);
	const uint64_t command = call->arguments[1] & FUTEX_CMD_MASK;
	struct wait_lock lock = { 0 };
	struct mutex mutex;

	if (call->is_running || !known || known->on != CALL_ON_FUTEX ||
	    mem_read(&remote->mem, &mutex, sizeof mutex, call->arguments[0]) < 0)
		return lock;
	if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2)
		lock.inner_owner = mutex.lock & FUTEX_TID_MASK;
	else if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
		 call->arguments[2] == LOCKED_WAITED_FOR && mutex.lock == LOCKED_WAITED_FOR &&
		 mutex.users > 0 && (mutex.kind & ~MUTEX_KINDS) == 0)
		lock.inner_owner = mutex.owner;
	if (lock.inner_owner > 0)
		lock.address = call->arguments[0];
	return lock;
}
