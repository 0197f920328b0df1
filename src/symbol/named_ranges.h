/* named_ranges - names of JIT-compiled code by address; the newest wins. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "range_map.h"

/* One piece of code. */
struct named_range {
	uint64_t start;
	const char *name; /* in strings */
};

struct named_ranges {
	struct intern *strings;
	struct named_range *ranges;
	size_t count;
	size_t capacity;
	struct range_map by_address;
	struct table by_start; /* start to the number of the newest range that begins there */
};

/* Later ranges replace earlier ones where they overlap. */
void named_ranges_add(struct named_ranges *named, uint64_t start, uint64_t len,
		      const char *name, size_t name_len);
