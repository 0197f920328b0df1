#include "collect/process_stat.h"

#include <stdio.h>
#include <string.h>

bool process_stat_read(pid_t pid, struct process_stat *out_stat)
{
	char path[64], line[1024];
	const char *behind_name = NULL;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return false;
	/* The name, in parentheses, may hold anything; behind the last one is the state. */
	if (fgets(line, sizeof line, file) != NULL)
		behind_name = strrchr(line, ')');
	fclose(file);
	return behind_name != NULL &&
	       sscanf(behind_name,
		      ") %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %lu %*u %*d %*d %*d %*d %ld",
		      &out_stat->state, &out_stat->parent, &out_stat->flags,
		      &out_stat->user_ticks, &out_stat->threads) == 5;
}
