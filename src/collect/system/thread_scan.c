#include "collect/system/thread_scan.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/table.h"

/* A process may create threads faster than they are visited: the scan gives up then. */
#define SCANS_MOST 16

struct scan {
	int (*visit)(void *context, pid_t tid);
	void *context;
	struct table seen;
};

/* Visits the thread if it is new.  1: it was new; 0: it was not, or has ended. */
static int look_at(struct scan *scan, pid_t tid)
{
	bool is_new;

	if (tid <= 0)
		return 0;
	table_at(&scan->seen, 0, (uint64_t)tid, &is_new);
	const int rc = is_new ? scan->visit(scan->context, tid) : 0;

	if (rc == -ESRCH)
		return 0;
	return rc < 0 ? rc : is_new;
}

/* Reads /proc/<pid>/task once.  Returns the number of threads that were new. */
static int look(struct scan *scan, pid_t pid)
{
	const struct dirent *entry;
	char path[64];
	int found = 0, rc = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);

	if (tasks == NULL)
		return errno == ENOENT ? 0 : -errno;
	while (rc >= 0 && (entry = readdir(tasks)) != NULL) {
		rc = look_at(scan, atoi(entry->d_name));
		found += rc > 0;
	}
	closedir(tasks);
	return rc < 0 ? rc : found;
}

int thread_scan(pid_t pid, int (*visit)(void *context, pid_t tid), void *context)
{
	struct scan scan = { .visit = visit, .context = context };
	int found = 0, rc = 1;

	for (int i = 0; rc > 0 && i < SCANS_MOST; i++) {
		rc = look(&scan, pid);
		found += rc > 0 ? rc : 0;
	}
	table_done(&scan.seen);
	if (rc < 0)
		return rc;
	return found > 0 ? 0 : -ESRCH;
}
