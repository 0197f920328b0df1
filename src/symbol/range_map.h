/*
 * range_map - resolves overlapping address ranges to one value per address.
 *
 * Add ranges, finish once, then look up. Where ranges overlap, the highest priority wins, and
 * among equals the one added later.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range_entry;
struct range_segment;

/* Zero-initialized is empty. */
struct range_map {
	struct range_entry *entries; /* as added, until finished */
	size_t entry_count;
	size_t entry_capacity;
	struct range_segment *segments; /* disjoint and sorted, once finished */
	size_t segment_count;
	size_t segment_capacity;
};

/* An empty range (end not above start) is ignored. */
void range_map_add(struct range_map *map, uint64_t start, uint64_t end, uint32_t priority,
		   uint32_t value);
void range_map_finish(struct range_map *map);
/* The value of the winning range at the address; false if there is none. */
bool range_map_find(const struct range_map *map, uint64_t address, uint32_t *out_value);
void range_map_done(struct range_map *map);
