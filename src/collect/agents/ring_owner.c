#include "collect/agents/ring_owner.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "abi/ring.h"
#include "attach/peek.h"
#include "base/memory.h"
#include "collect/system/process_stat.h"
#include "target/maps.h"

/* A ring's memfd in /proc/<pid>/maps: enter_ring.c. */
#define RING_NAME "/memfd:fathom-ring"

static uint64_t start_of(pid_t pid)
{
	struct process_stat stat;

	return process_stat_read(pid, &stat) ? stat.start_ticks : 0;
}

uint64_t ring_owner_start(void)
{
	return start_of(getpid());
}

void ring_owner_write(struct ring_header *ring, uint64_t start)
{
	ring->recorder_pid = (uint64_t)getpid();
	ring->recorder_start = start;
}

static bool is_owned(pid_t pid, uint64_t ring)
{
	uint64_t owner[2];

	if (peek(pid, ring + offsetof(struct ring_header, recorder_pid), owner, sizeof owner) <
	    0)
		return true;
	return owner[0] == 0 ||
	       (owner[0] <= INT32_MAX && start_of((pid_t)owner[0]) == owner[1]);
}

bool ring_owner_runs(pid_t pid)
{
	CLEANUP(maps_freep) struct maps *maps = NULL;

	if (maps_read(pid, &maps, NULL) < 0)
		return false;
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);

		if (mapping->file_offset == 0 && strcmp(mapping->path, RING_NAME) == 0)
			return is_owned(pid, mapping->start);
	}
	return false;
}
