/*
 * trap_walk_early - walks a whole program, from a preloaded library's constructor to its end.
 *
 * TRAP_WALK_FD holds a struct trap_walk_result to count in, TRAP_WALK_LIMIT says how many
 * instructions to walk.
 */
#include "trap_walk.h"
#include <stdlib.h>
#include <sys/mman.h>

static __attribute__((constructor)) void begin(void)
{
	const char *fd = getenv("TRAP_WALK_FD");
	const char *limit = getenv("TRAP_WALK_LIMIT");
	struct trap_walk_result *result;

	if (fd == NULL || limit == NULL)
		return;
	result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
	if (result == MAP_FAILED)
		return;
	unsetenv("LD_PRELOAD");
	trap_walk_init(result);
	trap_walk_set_limit(strtoull(limit, NULL, 10));
	trap_walk_start();
}
