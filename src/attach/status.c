#include "attach/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_BYTES 8192

/* The text behind a label at the start of a line, or NULL. */
static const char *value_of(const char *text, const char *label)
{
	const size_t len = strlen(label);

	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, label, len) == 0 && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
	}
	return NULL;
}

static unsigned long number_of(const char *text, const char *label, int base)
{
	const char *value = value_of(text, label);

	return value == NULL ? 0 : strtoul(value, NULL, base);
}

/* NSpid has the tid in each PID namespace, the innermost last. */
static pid_t inner_tid_of(const char *text)
{
	const char *value = value_of(text, "NSpid");
	pid_t tid = 0;

	while (value != NULL && *value >= '0' && *value <= '9') {
		char *end;

		tid = (pid_t)strtol(value, &end, 10);
		value = end + strspn(end, " \t");
	}
	return tid;
}

bool attach_status_parse(const char *text, struct attach_status *out_status)
{
	const char *state = value_of(text, "State");
	const char *features = value_of(text, "x86_Thread_features");

	if (state == NULL)
		return false;
	*out_status = (struct attach_status){
		.state = *state,
		.tgid = (pid_t)number_of(text, "Tgid", 10),
		.inner_tid = inner_tid_of(text),
		.debugger = (pid_t)number_of(text, "TracerPid", 10),
		.threads = (unsigned)number_of(text, "Threads", 10),
		.seccomp = (unsigned)number_of(text, "Seccomp", 10),
		.blocked = number_of(text, "SigBlk", 16),
		.ignored = number_of(text, "SigIgn", 16),
		.caught = number_of(text, "SigCgt", 16),
		.pending = number_of(text, "SigPnd", 16) | number_of(text, "ShdPnd", 16),
		.has_shadow_stack = features != NULL && strncmp(features, "shstk", 5) == 0,
	};
	return true;
}

int attach_status_read(pid_t pid, pid_t tid, struct attach_status *out_status)
{
	char path[64], text[STATUS_BYTES];

	snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	const ssize_t bytes = read(fd, text, sizeof text - 1);

	close(fd);
	if (bytes <= 0)
		return -ESRCH;
	text[bytes] = '\0';
	return attach_status_parse(text, out_status) ? 0 : -ESRCH;
}

bool attach_status_has_signal(uint64_t set, int signal)
{
	return set >> (signal - 1) & 1;
}
