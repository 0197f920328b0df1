#include "named_ranges.h"

#include <stdlib.h>

#include "base/memory.h"
#include "module.h"

void named_ranges_add(struct named_ranges *named, uint64_t start, uint64_t len,
		      const char *name, size_t name_len)
{
	uint64_t end;

	if (__builtin_add_overflow(start, len, &end) || named->count == UINT32_MAX)
		return;
	named->ranges = array_grow(named->ranges, named->count, &named->capacity,
				   sizeof *named->ranges);
	uint32_t id = intern_add(named->strings, name, name_len);
	named->ranges[named->count] = (struct named_range){
		.start = start,
		.name = intern_get(named->strings, id, NULL),
	};
	*table_at(&named->by_start, 0, start, NULL) = named->count;
	range_map_add(&named->by_address, start, end, 0, (uint32_t)named->count++);
}

static void named_ranges_look_up(void *state, uint64_t address, struct answer *answer)
{
	struct named_ranges *named = state;
	uint32_t number;

	answer->address = address;
	answer->function_start = address;
	if (!range_map_find(&named->by_address, address, &number))
		return;
	answer->function_start = named->ranges[number].start;
	answer->count = 1;
	answer->locations[0] = (struct symbol_location){
		.name = named->ranges[number].name,
		.is_named = true,
	};
}

static void named_ranges_free(void *state)
{
	struct named_ranges *named = state;

	range_map_done(&named->by_address);
	table_done(&named->by_start);
	free(named->ranges);
	free(named);
}

const struct symbol_source named_ranges_source = {
	.look_up = named_ranges_look_up,
	.free = named_ranges_free,
};
