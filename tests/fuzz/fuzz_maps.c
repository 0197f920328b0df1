/*
 * The input is the text of /proc/PID/maps.  Whatever it is, the mappings are in order, none
 * is empty, none overlaps another, and each is found by its first and last byte.
 */
#include <stdlib.h>
#include <string.h>

#include "target/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maps *maps = maps_parse((const char *)data, size);
	uint64_t last_end = 0;

	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *m = maps_at(maps, i);
		if (m->start < last_end || m->end <= m->start || strlen(m->path) > size)
			abort();
		if (maps_find(maps, m->start) != m || maps_find(maps, m->end - 1) != m)
			abort();
		last_end = m->end;
	}
	maps_free(maps);
	return 0;
}
