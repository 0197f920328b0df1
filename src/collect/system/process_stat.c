#include "collect/system/process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* Room for the lines before "Groups:" and for that line. */
#define STATUS_SIZE (sizeof((struct process_status *)NULL)->groups + 1024)

bool process_stat_read(pid_t pid, struct process_stat *out_stat)
{
	char path[64], line[1024];
	const char *behind_name = NULL;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return false;
	/* The name, in parentheses, may hold any character; the state follows the last ')'. */
	if (fgets(line, sizeof line, file) != NULL)
		behind_name = strrchr(line, ')');
	fclose(file);
	const char *last = behind_name != NULL ? strrchr(behind_name, ' ') : NULL;

	if (last == NULL)
		return false;
	out_stat->exit_code = atoi(last + 1);
	return sscanf(behind_name,
		      ") %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %lu %*u %*d %*d %*d %*d %ld "
		      "%*d "
		      "%llu",
		      &out_stat->state, &out_stat->parent, &out_stat->flags,
		      &out_stat->user_ticks, &out_stat->threads, &out_stat->start_ticks) == 6;
}

bool process_is_alive(pid_t pid)
{
	struct process_stat stat;

	/* Without a free descriptor /proc cannot be read: assume that the process is alive. */
	if (!process_stat_read(pid, &stat))
		return errno == EMFILE || errno == ENFILE;
	/* A first thread that has ended is a zombie until the others have ended, too. */
	return (stat.state != 'Z' && stat.state != 'X') || stat.threads > 1;
}

uint64_t process_user_ns(pid_t pid)
{
	struct process_stat stat;

	if (!process_stat_read(pid, &stat))
		return 0;
	return stat.user_ticks * (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* The value in the line that begins with key, colon included; NULL: there is no such line. */
static const char *value_of(const char *text, const char *key)
{
	const size_t len = strlen(key);

	/*
	 * The target cannot forge a line: line feeds in its name are escaped (fs/proc/array.c,
	 * proc_task_name).
	 */
	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0)
			return line + len;
	}
	return NULL;
}

bool process_status_parse(const char *text, struct process_status *out_status)
{
	const char *debugger = value_of(text, "TracerPid:"), *user = value_of(text, "Uid:");
	const char *group = value_of(text, "Gid:"), *groups = value_of(text, "Groups:");

	const size_t len = groups != NULL ? strcspn(groups, "\n") : 0;

	out_status->has_all_groups =
		groups != NULL && groups[len] == '\n' && len < sizeof out_status->groups;
	if (out_status->has_all_groups)
		memcpy(out_status->groups, groups, len);
	out_status->groups[out_status->has_all_groups ? len : 0] = '\0';
	return debugger != NULL && user != NULL && group != NULL &&
	       sscanf(debugger, "%d", &out_status->debugger) == 1 &&
	       sscanf(user, "%*u %u", &out_status->user) == 1 &&
	       sscanf(group, "%*u %u", &out_status->group) == 1;
}

bool process_status_read(pid_t pid, struct process_status *out_status)
{
	char path[64], text[STATUS_SIZE];

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (len <= 0)
		return false;
	text[len] = '\0';
	return process_status_parse(text, out_status);
}

bool process_has_debugger(pid_t pid)
{
	struct process_status status;

	return process_status_read(pid, &status) && status.debugger != 0;
}

bool process_status_has_group(const struct process_status *status, gid_t group)
{
	const char *at = status->groups;

	if (status->group == group)
		return true;
	for (;;) {
		char *end;
		const unsigned long number = strtoul(at, &end, 10);

		if (end == at)
			return false;
		if (number == group)
			return true;
		at = end;
	}
}

size_t process_command_read(pid_t pid, char *text, size_t size, char **out_arguments,
			    size_t most)
{
	char path[64];
	size_t count = 0;

	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t len = fd >= 0 ? read(fd, text, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	for (ssize_t at = 0; at < len && count < most; count++) {
		text[len] = '\0';
		out_arguments[count] = text + at;
		at += (ssize_t)strlen(text + at) + 1;
	}
	/* A title that a program wrote over its arguments is padded with NULs. */
	while (count > 0 && out_arguments[count - 1][0] == '\0')
		count--;
	out_arguments[count] = NULL;
	return count;
}
