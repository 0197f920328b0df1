/*
 * named_ranges - code that a JIT made: addresses and names, the newest wins.
 */
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
	struct table by_start; /* start → number of the newest that starts there */
};

/* Later ones replace what they overlap. */
void named_ranges_add(struct named_ranges *named, uint64_t start, uint64_t len,
		      const char *name, size_t name_len);
