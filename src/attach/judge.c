#include "attach/judge.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi/attach.h"
#include "attach/status.h"
#include "base/error.h"
#include "target/maps.h"

/* They have thread-local variables with first values, which a control block of ours has not. */
static const char *const allocators[] = { "libjemalloc", "libtcmalloc", "libmimalloc",
					  "libasan", "libtsan" };

int judge_status(const struct attach_status *status, struct error *err)
{
	if (status->state == 'Z' || status->state == 'X')
		return error_set(err, -ESRCH, "it has ended");
	if (status->debugger != 0)
		return error_set(err, -ENOTSUP, "process %d traces it (a debugger, strace)",
				 (int)status->debugger);
	if (status->state == 'T')
		return error_set(err, -ENOTSUP, "it is stopped; go on with it: kill -CONT %d",
				 (int)status->tgid);
	if (status->seccomp != 0)
		return error_set(err, -ENOTSUP,
				 "a filter restricts its system calls (seccomp)");
	if (status->has_shadow_stack)
		return error_set(err, -ENOTSUP, "its threads have shadow stacks");
	return 0;
}

static const char *allocator_of(const char *path)
{
	const char *name = strrchr(path, '/');

	for (size_t i = 0; name != NULL && i < sizeof allocators / sizeof allocators[0]; i++) {
		if (strncmp(name + 1, allocators[i], strlen(allocators[i])) == 0)
			return name + 1;
	}
	return NULL;
}

int judge_maps(const struct maps *maps, struct error *err)
{
	for (size_t i = 0; i < maps_count(maps); i++) {
		const char *allocator = allocator_of(maps_at(maps, i)->path);

		if (allocator != NULL)
			return error_set(err, -ENOTSUP,
					 "its memory allocator is not the C library's (%s)",
					 allocator);
	}
	return 0;
}

/* An agent that an earlier attach has left has its handler in place. */
static bool has_agent(const struct maps *maps)
{
	for (size_t i = 0; i < maps_count(maps); i++) {
		const char *path = maps_at(maps, i)->path;

		if (strncmp(path, ATTACH_MEMORY, strlen(ATTACH_MEMORY)) == 0 ||
		    strstr(path, ATTACH_OBJECT) != NULL)
			return true;
	}
	return false;
}

static bool has_proc(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/root/proc/1", (int)pid);
	if (access(path, F_OK) == 0)
		return true;
	/* Another user's processes may be hidden. */
	snprintf(path, sizeof path, "/proc/%d/root/proc/version", (int)pid);
	return access(path, F_OK) == 0;
}

int judge_process(pid_t pid, const struct maps *maps, struct error *err)
{
	struct attach_status status;
	int rc = attach_status_read(pid, pid, &status);

	if (rc < 0)
		return error_errno(err, rc, "it cannot be looked at");
	rc = judge_status(&status, err);
	if (rc == 0)
		rc = judge_maps(maps, err);
	if (rc == 0 && !has_agent(maps) &&
	    attach_status_has_signal(status.caught | status.ignored, SIGTRAP))
		rc = error_set(err, -ENOTSUP, "it uses SIGTRAP itself");
	if (rc == 0 && !has_proc(pid))
		rc = error_set(err, -ENOTSUP, "no /proc is mounted where it runs");
	return rc;
}
