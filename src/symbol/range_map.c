/*
 * Finishing the map is a sweep over the addresses: at each start or end of a range, the open
 * ranges are in a heap, with the winner on top.
 */
#include "range_map.h"

#include <stdlib.h>

#include "base/memory.h"

struct range_entry {
	uint64_t start;
	uint64_t end;
	uint64_t order; /* the priority, then the order of addition */
	uint32_t value;
};

struct range_segment {
	uint64_t start;
	uint64_t end;
	uint32_t value;
};

/* The heap of ranges that may still be open; parents win over their children. */
struct heap {
	const struct range_entry **entries;
	size_t count;
};

void range_map_add(struct range_map *map, uint64_t start, uint64_t end, uint32_t priority,
		   uint32_t value)
{
	if (end <= start || map->entry_count == UINT32_MAX)
		return;
	map->entries = array_grow(map->entries, map->entry_count, &map->entry_capacity,
				  sizeof *map->entries);
	map->entries[map->entry_count] = (struct range_entry){
		.start = start,
		.end = end,
		.order = (uint64_t)priority << 32 | map->entry_count,
		.value = value,
	};
	map->entry_count++;
}

static int compare_entries(const void *left, const void *right)
{
	const struct range_entry *a = left;
	const struct range_entry *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int compare_addresses(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void heap_push(struct heap *heap, const struct range_entry *entry)
{
	size_t i = heap->count++;

	for (; i > 0; i = (i - 1) / 2) {
		size_t parent = (i - 1) / 2;
		if (heap->entries[parent]->order >= entry->order)
			break;
		heap->entries[i] = heap->entries[parent];
	}
	heap->entries[i] = entry;
}

static void heap_pop(struct heap *heap)
{
	const struct range_entry *last = heap->entries[--heap->count];
	size_t i = 0;

	for (size_t child = 1; child < heap->count; child = 2 * i + 1) {
		if (child + 1 < heap->count &&
		    heap->entries[child + 1]->order > heap->entries[child]->order)
			child++;
		if (heap->entries[child]->order <= last->order)
			break;
		heap->entries[i] = heap->entries[child];
		i = child;
	}
	heap->entries[i] = last;
}

static void add_segment(struct range_map *map, uint64_t start, uint64_t end, uint32_t value)
{
	struct range_segment *last =
		map->segment_count ? &map->segments[map->segment_count - 1] : NULL;

	if (last && last->end == start && last->value == value) {
		last->end = end;
		return;
	}
	map->segments = array_grow(map->segments, map->segment_count, &map->segment_capacity,
				   sizeof *map->segments);
	map->segments[map->segment_count++] = (struct range_segment){ start, end, value };
}

static void sweep(struct range_map *map, const uint64_t *edges, struct heap *heap)
{
	size_t next = 0;

	for (size_t i = 0; i + 1 < 2 * map->entry_count; i++) {
		while (next < map->entry_count && map->entries[next].start <= edges[i])
			heap_push(heap, &map->entries[next++]);
		while (heap->count > 0 && heap->entries[0]->end <= edges[i])
			heap_pop(heap);
		if (heap->count > 0 && edges[i] < edges[i + 1])
			add_segment(map, edges[i], edges[i + 1], heap->entries[0]->value);
	}
}

void range_map_finish(struct range_map *map)
{
	size_t count = map->entry_count;

	if (count == 0)
		return;
	CLEANUP(freep) uint64_t *edges = xreallocarray(NULL, 2 * count, sizeof *edges);
	CLEANUP(freep)
	const struct range_entry **waiting =
		xreallocarray(NULL, count, sizeof(struct range_entry *));
	for (size_t i = 0; i < count; i++) {
		edges[2 * i] = map->entries[i].start;
		edges[2 * i + 1] = map->entries[i].end;
	}
	qsort(edges, 2 * count, sizeof *edges, compare_addresses);
	qsort(map->entries, count, sizeof *map->entries, compare_entries);
	sweep(map, edges, &(struct heap){ .entries = waiting });
	free(map->entries);
	map->entries = NULL;
	map->entry_count = 0;
	map->entry_capacity = 0;
}

bool range_map_find(const struct range_map *map, uint64_t address, uint32_t *out_value)
{
	size_t low = 0;
	size_t high = map->segment_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct range_segment *segment = &map->segments[middle];
		if (address < segment->start) {
			high = middle;
		} else if (address >= segment->end) {
			low = middle + 1;
		} else {
			*out_value = segment->value;
			return true;
		}
	}
	return false;
}

void range_map_done(struct range_map *map)
{
	free(map->entries);
	free(map->segments);
}
