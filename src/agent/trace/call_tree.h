/*
 * call_tree - the calling-context tree of a thread (abi/trace.h): how calls begin and end in it.
 *
 * A node's children form a ring in the order of their first calls, and a search starts behind the
 * child called last: callees that are called in turn are found at the first try.  Callers with many
 * children use a hash table (index.h).  Children are distinguished by an identity that the
 * reporting hook computes.
 *
 * Recursion.  Where calls are TRACE_DEPTH deep (less when the table is filling up), a callee whose
 * function already occurs twice among its callers is merged with the inner of these: its count and
 * time are right, its place in the tree is shared by all deeper levels.  So the depth of a tree is
 * bounded by the number of different functions, and recursion does not fill the table.
 *
 * Nodes lie in memory that others can write.  A node number read from there is cut to the table
 * (trace_link(), trace_is_node()), and a walk along such numbers takes at most TRACE_NODES steps.
 * Corrupt memory may give wrong counts, but no access outside the table.
 */
#pragma once
#include "agent/trace/call_stack.h"
#include "agent/trace/index.h"

/* A search tries that many siblings; then all children are put into the index. */
#define TRACE_NEAR 8U
/* Sibling probes once the parent is indexed. */
#define TRACE_NEAR_WIDE 1U

/* Takes a free chunk for this thread's slot; 0: there is none. */
static inline u32 trace_take_chunk(struct call_stack *calls)
{
	struct trace_area *area = calls->area;

	/* Avoids a search by each call; the recorder lowers the count before it frees chunks. */
	if (__atomic_load_n(&area->chunks_taken, __ATOMIC_RELAXED) >= TRACE_CHUNKS - 1)
		return 0;
	for (u32 i = 0; i < TRACE_CHUNKS; i++) {
		const u32 chunk = (calls->chunk + 1 + i) % TRACE_CHUNKS;
		u32 is_free = 0;

		if (chunk != 0 &&
		    __atomic_load_n(&area->owners[chunk], __ATOMIC_RELAXED) == 0 &&
		    /* Pairs with the recorder's release when it has read the chunk. */
		    __atomic_compare_exchange_n(&area->owners[chunk], &is_free, calls->slot + 1,
						0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			__atomic_fetch_add(&area->chunks_taken, 1, __ATOMIC_RELAXED);
			return chunk;
		}
	}
	return 0;
}

/* Allocates a node without links; TRACE_NO_NODE when the table is full. */
static inline u32 trace_new_node(struct call_stack *calls)
{
	if (calls->chunk == 0 || calls->used == TRACE_CHUNK_NODES) {
		const u32 chunk = trace_take_chunk(calls);

		if (chunk == 0)
			return TRACE_NO_NODE;
		calls->chunk = chunk;
		calls->used = 0;
		/* Clear what the chunk's previous thread left. */
		for (u32 i = 0; i < TRACE_CHUNK_NODES; i++) {
			struct trace_node *node =
				trace_node_at(calls, chunk * TRACE_CHUNK_NODES + i);

			__atomic_store_n(&node->key, 0, __ATOMIC_RELAXED);
			node->calls = 0;
			node->self_ticks = 0;
			node->parent = TRACE_NO_NODE;
			calls->area->overheads[chunk * TRACE_CHUNK_NODES + i] =
				(struct trace_overhead){ 0 };
		}
	}
	return calls->chunk * TRACE_CHUNK_NODES + calls->used++;
}

static inline u16 trace_deeper(u16 depth)
{
	return depth < TRACE_DEEPEST ? (u16)(depth + 1) : depth;
}

/* Inserts a child behind the one called last, where a search looks first. */
static inline void trace_link_child(struct call_stack *calls, u32 parent, u32 child)
{
	struct trace_node *node = trace_node_at(calls, child);
	struct trace_node *above = trace_node_at(calls, parent);
	const u32 last = trace_link(&above->first_child);

	if (last == TRACE_NO_NODE) {
		node->next_sibling = child;
	} else {
		node->next_sibling = trace_link(&trace_node_at(calls, last)->next_sibling);
		trace_node_at(calls, last)->next_sibling = child;
	}
	above->first_child = child;
	if (above->is_wide)
		above->is_wide = trace_index_add(calls, child);
}

/* Adds a child to a node, as the child called last. */
static inline u32 trace_add_child(struct call_stack *calls, u32 parent, enum trace_kind kind,
				  u64 identity, u64 key)
{
	const u32 child = trace_new_node(calls);

	if (child == TRACE_NO_NODE)
		return child;
	struct trace_node *node = trace_node_at(calls, child);

	node->identity = identity;
	node->parent = parent;
	node->first_child = TRACE_NO_NODE;
	node->next_sibling = TRACE_NO_NODE;
	node->depth =
		parent == TRACE_NO_NODE ? 0 : trace_deeper(trace_node_at(calls, parent)->depth);
	node->kind = (u8)kind;
	node->is_wide = 0;
	node->shortest_ticks = ~0ULL;
	node->longest_ticks = 0;
	/* Pairs with the acquire in the recorder: the fields above are complete. */
	__atomic_store_n(&node->key, key, __ATOMIC_RELEASE);
	if (parent != TRACE_NO_NODE)
		trace_link_child(calls, parent, child);
	return child;
}

/* Gives a node another identity. */
static inline void trace_rename(struct call_stack *calls, u32 number, u64 identity)
{
	struct trace_node *node = trace_node_at(calls, number);
	struct trace_node *above = trace_node_at(calls, trace_link(&node->parent));

	node->identity = identity;
	if (above->is_wide)
		above->is_wide = trace_index_add(calls, number);
}

/* Searches the ring from the sibling after `child` up to `end`. */
static inline u32 trace_find_between(const struct call_stack *calls, u32 child, u32 end,
				     u64 identity)
{
	for (u32 i = 0; i < TRACE_NODES; i++) {
		child = trace_link(&trace_node_at(calls, child)->next_sibling);
		if (child == end)
			break;
		if (trace_node_at(calls, child)->identity == identity)
			return child;
	}
	return TRACE_NO_NODE;
}

/* Finds a child (or TRACE_NO_NODE) behind the one called last, and makes it the one called last. */
static inline u32 trace_find_child(struct call_stack *calls, u32 parent, u64 identity)
{
	struct trace_node *above = trace_node_at(calls, parent);
	const u32 last = trace_link(&above->first_child);
	const u32 near = above->is_wide ? TRACE_NEAR_WIDE : TRACE_NEAR;
	u32 child = last;

	if (last == TRACE_NO_NODE)
		return TRACE_NO_NODE;
	for (u32 i = 0; i < near; i++) {
		child = trace_link(&trace_node_at(calls, child)->next_sibling);
		if (child == last)
			return TRACE_NO_NODE;
		if (trace_node_at(calls, child)->identity == identity) {
			above->first_child = child;
			return child;
		}
	}
	if (!above->is_wide)
		above->is_wide = trace_index_add_children(calls, parent);
	child = above->is_wide ? trace_index_find(calls, parent, identity)
			       : trace_find_between(calls, child, last, identity);
	if (child != TRACE_NO_NODE)
		above->first_child = child;
	return child;
}

/* The depth from which recursion is merged: less, the fuller the table is. */
static inline u32 trace_depth_limit(const struct call_stack *calls)
{
	const u64 taken = __atomic_load_n(&calls->area->chunks_taken, __ATOMIC_RELAXED);

	if (taken < TRACE_CHUNKS / 2)
		return TRACE_DEPTH;
	return taken < TRACE_CHUNKS / 4 * 3 ? TRACE_DEPTH / 4 : TRACE_DEPTH / 16;
}

/*
 * The node to merge a recursive call with: from `parent` outwards, the innermost of the callee's
 * nodes that has another one above it; if is_full, one alone suffices.  TRACE_NO_NODE: none.
 */
static inline u32 trace_find_merged(const struct call_stack *calls, u32 parent, u64 identity,
				    bool is_full)
{
	u32 found = TRACE_NO_NODE, at = parent;

	for (u32 i = 0; i < TRACE_NODES && at != TRACE_NO_NODE;
	     i++, at = trace_link(&trace_node_at(calls, at)->parent)) {
		if (trace_node_at(calls, at)->identity != identity)
			continue;
		if (found != TRACE_NO_NODE)
			return found;
		found = at;
	}
	return is_full ? found : TRACE_NO_NODE;
}

/* The child called last if it has this identity, or TRACE_NO_NODE. */
static inline u32 trace_likely_child(const struct call_stack *calls, u32 parent, u64 identity)
{
	const u32 child =
		__atomic_load_n(&trace_node_at(calls, parent)->first_child, __ATOMIC_RELAXED);

	return __builtin_expect(trace_is_node(child) &&
					trace_node_at(calls, child)->identity == identity,
				1)
		       ? child
		       : TRACE_NO_NODE;
}

/* Begins a call.  node: the callee's, or TRACE_NO_NODE if the table is full: the call is lost. */
static inline __attribute__((always_inline)) void trace_push(struct call_stack *calls, u32 node,
							     struct trace_entry entry)
{
	if (node == TRACE_NO_NODE) {
		__atomic_fetch_add(&calls->area->lost_calls, 1, __ATOMIC_RELAXED);
		node = calls->top->node;
	} else {
		trace_node_at(calls, node)->calls += calls->is_off ^ 1;
	}
	if (calls->top == calls->limit) {
		calls->unstacked++;
		return;
	}
	struct trace_entry *top = calls->top + 1;

	top->object = entry.object;
	top->named = entry.named;
	top->frame = entry.frame;
	top->start_ticks = entry.start_ticks;
	top->node = node;
	top->kind = entry.kind;
	calls->top = top;
}

/* Ends the innermost call. */
static inline void trace_pop(struct call_stack *calls, u64 now)
{
	const struct trace_entry *top = calls->top;
	struct trace_node *node = trace_node_at(calls, top->node);
	const u64 ticks = now > top->start_ticks ? now - top->start_ticks : 0;

	/* A call of 0 ticks was made while tracing was off: it is not the shortest. */
	if (ticks - 1 < node->shortest_ticks - 1)
		node->shortest_ticks = ticks;
	if (ticks > node->longest_ticks)
		node->longest_ticks = ticks;
	calls->top--;
}

/* trace_close() for a call that is not the innermost, or that has no entry. */
static __attribute__((noinline, unused)) void trace_leave_outer(struct call_stack *calls,
								u64 object, u64 frame, u64 now)
{
	const struct trace_entry *entry = calls->top;

	if (calls->unstacked > 0) {
		calls->unstacked--;
		return;
	}
	while (entry > calls->entries && (entry->object != object || entry->frame != frame))
		entry--;
	if (entry == calls->entries)
		return;
	while (calls->top >= entry) {
		calls->has_waiting |= calls->top->kind == TRACE_KIND_REGION;
		trace_pop(calls, now);
	}
}

/*
 * Ends the call of this object in this frame, and calls inside it whose ends were missed.  Does
 * nothing if the call began before tracing.
 */
static inline __attribute__((always_inline)) void trace_close(struct call_stack *calls,
							      u64 object, u64 frame, u64 now)
{
	const struct trace_entry *top = calls->top;

	trace_advance(calls, now);
	/* The root's object is 0; no callee's is. */
	if (__builtin_expect(
		    top->object == object && top->frame == frame && calls->unstacked == 0, 1))
		trace_pop(calls, now);
	else
		trace_leave_outer(calls, object, frame, now);
}
