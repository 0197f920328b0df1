#include "collect/system/descendants.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "collect/system/process_stat.h"

/*
 * Most scans of /proc: a child may have a lower pid than its parent, so a scan may find only
 * one more generation.
 */
#define LOOKS_MOST 64

static bool has(const struct descendants *all, pid_t pid)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->pids[i] == pid)
			return true;
	return false;
}

void descendants_add(struct descendants *all, pid_t pid)
{
	if (has(all, pid))
		return;
	all->pids = array_grow(all->pids, all->count, &all->capacity, sizeof *all->pids);
	all->pids[all->count++] = pid;
}

void descendants_find(struct descendants *all)
{
	size_t before = 0;

	for (int i = 0; i < LOOKS_MOST && before != all->count; i++) {
		DIR *processes = opendir("/proc");
		const struct dirent *entry;
		struct process_stat stat;

		before = all->count;
		while (processes != NULL && (entry = readdir(processes)) != NULL) {
			const pid_t pid = atoi(entry->d_name);

			if (pid > 0 && process_stat_read(pid, &stat) && has(all, stat.parent))
				descendants_add(all, pid);
		}
		if (processes != NULL)
			closedir(processes);
	}
}

void descendants_done(struct descendants *all)
{
	free(all->pids);
	*all = (struct descendants){ 0 };
}
