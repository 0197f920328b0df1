#include "agent/trace/index.h"

#include <stddef.h>

#include "agent/trace/map.h"

#define ENTRIES_OF(bits) (1U << (bits))
#define ALL_BYTES        ((u64)ENTRIES_OF(TRACE_INDEX_LAST_BITS + 1) * sizeof(u32))

_Static_assert(ENTRIES_OF(TRACE_INDEX_LAST_BITS) >= TRACE_CHUNKS * TRACE_CHUNK_NODES,
	       "there is room for all nodes, but for those that go by two names");

/* Sizes double from table to table, so a table's offset is its size minus the first one's. */
static u32 *table_of(const struct trace_index *index, u32 bits)
{
	return index->tables + ENTRIES_OF(bits) - ENTRIES_OF(TRACE_INDEX_FIRST_BITS);
}

/* Identities are addresses, or computed from some: their low bits are similar. */
static u32 place_of(u32 parent, u64 identity, u32 bits)
{
	const u64 both = identity + parent * 0xbf58476d1ce4e5b9ULL;

	return (u32)((both ^ both >> 29) * 0x9e3779b97f4a7c15ULL >> (64 - bits));
}

/* How many entries of a table may be used: a search needs a free one to end at. */
static u32 most_of(u32 bits)
{
	return bits < TRACE_INDEX_LAST_BITS ? ENTRIES_OF(bits) / 2 : ENTRIES_OF(bits) / 16 * 15;
}

u32 trace_index_find(const struct call_stack *calls, u32 parent, u64 identity)
{
	const u32 bits = calls->index.bits;

	/* A corrupt node may claim that its children are here. */
	if (calls->index.tables == NULL)
		return TRACE_NO_NODE;
	const u32 *table = table_of(&calls->index, bits);
	u32 at = place_of(parent, identity, bits);

	for (; table[at] != TRACE_NO_NODE; at = (at + 1) % ENTRIES_OF(bits)) {
		const struct trace_node *node = trace_node_at(calls, table[at]);

		if (node->identity == identity && node->parent == parent)
			return table[at];
	}
	return TRACE_NO_NODE;
}

/* False: it is in the table already. */
static bool put(const struct call_stack *calls, u32 bits, u32 number)
{
	const struct trace_node *node = trace_node_at(calls, number);
	u32 *table = table_of(&calls->index, bits);
	u32 at = place_of(node->parent, node->identity, bits);

	while (table[at] != TRACE_NO_NODE && table[at] != number)
		at = (at + 1) % ENTRIES_OF(bits);
	if (table[at] == number)
		return false;
	table[at] = number;
	return true;
}

static bool begin(struct trace_index *index)
{
	index->tables = trace_map(ALL_BYTES);
	index->bits = TRACE_INDEX_FIRST_BITS;
	index->used = 0;
	return index->tables != NULL;
}

static void grow(struct call_stack *calls)
{
	struct trace_index *index = &calls->index;
	const u32 *last = table_of(index, index->bits);
	u32 used = 0;

	for (u32 i = 0; i < ENTRIES_OF(index->bits); i++) {
		if (last[i] != TRACE_NO_NODE)
			used += put(calls, index->bits + 1, last[i]);
	}
	index->used = used;
	/* A signal handler that interrupts this sees the old table or the new one. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	index->bits++;
}

bool trace_index_add(struct call_stack *calls, u32 node)
{
	struct trace_index *index = &calls->index;

	if (!index->is_full && index->tables == NULL)
		index->is_full = !begin(index);
	if (!index->is_full && index->used == most_of(index->bits)) {
		if (index->bits < TRACE_INDEX_LAST_BITS)
			grow(calls);
		else
			index->is_full = 1;
	}
	if (index->is_full)
		return false;
	index->used += put(calls, index->bits, node);
	return true;
}

bool trace_index_add_children(struct call_stack *calls, u32 parent)
{
	const u32 first = trace_link(&trace_node_at(calls, parent)->first_child);
	u32 child = first;

	for (u32 i = 0; i < TRACE_NODES; i++) {
		if (!trace_index_add(calls, child))
			return false;
		child = trace_link(&trace_node_at(calls, child)->next_sibling);
		if (child == first)
			return true;
	}
	return false;
}

void trace_index_drop(struct trace_index *index)
{
	if (index->tables != NULL)
		trace_unmap(index->tables, ALL_BYTES);
	*index = (struct trace_index){ 0 };
}
