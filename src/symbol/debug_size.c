#include "debug_size.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* A size up to this is always accepted. */
#define SMALL     (UINT64_C(1) << 30)
#define MOST_FOLD 16

/* How much more this process may map; UINT64_MAX: unlimited. */
static uint64_t address_space_left(void)
{
	struct rlimit limit;
	uint64_t pages = 0;

	if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%" SCNu64, &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	const uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);

	return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

bool debug_size_is_bearable(uint64_t unpacked, uint64_t file_len)
{
	return unpacked == 0 || ((unpacked <= SMALL || unpacked / MOST_FOLD <= file_len) &&
				 unpacked <= address_space_left() / 2);
}
