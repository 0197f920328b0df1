#include "collect/processes/known_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The fixed point of trace_area.ticks_per_ns. */
#define TWO_TO_32 4294967296.0

struct known_calls *known_calls_new(struct trace_area *area)
{
	struct known_calls *known = xzalloc(sizeof *known);

	known->area = area;
	if (area->ticks_per_ns != 0)
		known->cpu_ns_per_tick = TWO_TO_32 / (double)area->ticks_per_ns;
	return known;
}

void known_calls_free(struct known_calls *known)
{
	if (known == NULL)
		return;
	for (uint32_t i = 0; i < TRACE_CHUNKS; i++)
		free(known->chunks[i]);
	free(known->path);
	free(known);
}

struct known_node *known_calls_node(struct known_calls *known, uint32_t node)
{
	struct known_node **chunk = &known->chunks[node / TRACE_CHUNK_NODES];

	if (*chunk == NULL) {
		*chunk = xreallocarray(NULL, TRACE_CHUNK_NODES, sizeof **chunk);
		memset(*chunk, 0, TRACE_CHUNK_NODES * sizeof **chunk);
	}
	return *chunk + node % TRACE_CHUNK_NODES;
}

uint64_t known_calls_key(const struct known_calls *known, uint32_t node)
{
	/* Pairs with the release in the agent: the node is complete. */
	return __atomic_load_n(&known->area->nodes[node].key, __ATOMIC_ACQUIRE);
}
