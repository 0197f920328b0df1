#include "attach/task.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

int task_list_all(pid_t pid, pid_t **out_tids, size_t *out_count)
{
	char path[64];
	size_t capacity = 0;
	const struct dirent *entry;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);

	*out_tids = NULL;
	*out_count = 0;
	if (tasks == NULL)
		return -errno;
	/* The kernel lists threads in the order of their creation, the main thread first. */
	while ((entry = readdir(tasks)) != NULL) {
		const pid_t tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		*out_tids = array_grow(*out_tids, *out_count, &capacity, sizeof **out_tids);
		(*out_tids)[(*out_count)++] = tid;
	}
	closedir(tasks);
	return *out_count > 0 ? 0 : -ESRCH;
}
