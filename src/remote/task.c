#include "remote/task.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define STATUS_SIZE 4096

bool task_parse_call(const char *line, struct task_call *out_call)
{
	struct task_call call = { .number = -1 };

	if (strncmp(line, "running", strlen("running")) == 0) {
		*out_call = (struct task_call){ .is_running = true, .number = -1 };
		return true;
	}
	if (sscanf(line, "-1 %" SCNx64 " %" SCNx64, &call.sp, &call.pc) == 2) {
		*out_call = call;
		return true;
	}
	if (sscanf(line,
		   "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64 " %" SCNx64,
		   &call.number, &call.arguments[0], &call.arguments[1], &call.arguments[2],
		   &call.arguments[3], &call.arguments[4], &call.arguments[5], &call.sp,
		   &call.pc) != 9)
		return false;
	*out_call = call;
	return true;
}

/* The text after "Key:" and blanks, of the line that begins with it, or NULL. */
static const char *value_of(const char *text, const char *key)
{
	const size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0 && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
	}
	return NULL;
}

static uint64_t number_of(const char *text, const char *key)
{
	const char *value = value_of(text, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

/* The last number of the line. */
static uint64_t last_number_of(const char *text, const char *key)
{
	const char *value = value_of(text, key);
	uint64_t number = 0;
	char *end;

	while (value && isdigit((unsigned char)*value)) {
		number = strtoull(value, &end, 10);
		value = end + strspn(end, " \t");
	}
	return number;
}

bool task_parse_status(const char *text, struct task_status *out_status)
{
	const char *state = value_of(text, "State"), *name = value_of(text, "Name");
	const char *uid = value_of(text, "Uid");
	unsigned int effective;

	*out_status = (struct task_status){ 0 };
	if (!state || *state == '\0' || *state == '\n')
		return false;
	out_status->state = *state;
	if (name)
		snprintf(out_status->name, sizeof out_status->name, "%.*s",
			 (int)strcspn(name, "\n"), name);
	out_status->tgid = (pid_t)number_of(text, "Tgid");
	out_status->inner_tid = (pid_t)last_number_of(text, "NSpid");
	if (out_status->inner_tid == 0)
		out_status->inner_tid = (pid_t)number_of(text, "Pid");
	out_status->tracer = (pid_t)number_of(text, "TracerPid");
	out_status->switches = number_of(text, "voluntary_ctxt_switches") +
			       number_of(text, "nonvoluntary_ctxt_switches");
	out_status->descriptors_most = number_of(text, "FDSize");
	if (uid && sscanf(uid, "%*u %u", &effective) == 1) {
		out_status->uid = effective;
		out_status->has_uid = true;
	}
	return true;
}

int task_read_text(pid_t pid, pid_t tid, const char *file, char *text, size_t size)
{
	char path[96];
	CLEANUP(closep) int fd = -1;
	size_t used = 0;
	ssize_t len = 1;

	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Files with lines come whole, by one read. */
	while (len > 0 && used < size - 1 && (used == 0 || text[used - 1] != '\n')) {
		len = read(fd, text + used, size - 1 - used);
		if (len < 0)
			return -errno;
		used += (size_t)len;
	}
	while (used > 0 && text[used - 1] == '\n')
		used--;
	text[used] = '\0';
	return 0;
}

int task_read_call(pid_t pid, pid_t tid, struct task_call *out_call)
{
	char line[256];
	const int rc = task_read_text(pid, tid, "syscall", line, sizeof line);

	if (rc < 0)
		return rc;
	return task_parse_call(line, out_call) ? 0 : -EBADMSG;
}

int task_read_status(pid_t pid, pid_t tid, struct task_status *out_status)
{
	char text[STATUS_SIZE];
	const int rc = task_read_text(pid, tid, "status", text, sizeof text);

	if (rc < 0)
		return rc;
	return task_parse_status(text, out_status) ? 0 : -EBADMSG;
}

bool task_rested(const struct task_call *a, const struct task_status *before,
		 const struct task_call *b, const struct task_status *after)
{
	return !a->is_running && !b->is_running && a->number == b->number && a->sp == b->sp &&
	       a->pc == b->pc && before->switches == after->switches;
}

static int compare(const void *a, const void *b)
{
	const pid_t first = *(const pid_t *)a, second = *(const pid_t *)b;

	return first < second ? -1 : first > second;
}

int task_list(pid_t pid, pid_t **out_tids, size_t *out_count)
{
	size_t count = 0, capacity = 0;
	pid_t *tids = NULL;
	struct dirent *entry;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	if (!folder)
		return -errno;
	while ((entry = readdir(folder)) != NULL) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		tids = array_grow(tids, count, &capacity, sizeof *tids);
		tids[count++] = tid;
	}
	closedir(folder);
	if (count > 0)
		qsort(tids, count, sizeof *tids, compare);
	*out_tids = tids;
	*out_count = count;
	return 0;
}

static bool has_ended(pid_t pid, pid_t tid)
{
	struct task_status status;

	return task_read_status(pid, tid, &status) < 0 || status.state == 'Z' ||
	       status.state == 'X';
}

pid_t task_alive(pid_t pid)
{
	CLEANUP(freep) pid_t *tids = NULL;
	size_t count = 0;

	if (!has_ended(pid, pid))
		return pid;
	if (task_list(pid, &tids, &count) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!has_ended(pid, tids[i]))
			return tids[i];
	}
	return 0;
}
