/* agent_path - recognises fathom's agent among the files that a process has mapped. */
#pragma once
#include <stdbool.h>
#include <string.h>

/* True for the agent of a target that was started with it, and of one that was attached to. */
static inline bool path_is_agent(const char *path)
{
	static const char *const names[] = { "libfathom-agent", "memfd:fathom-agent" };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return strncmp(name, names[0], strlen(names[0])) == 0 ||
	       strncmp(name, names[1], strlen(names[1])) == 0;
}
