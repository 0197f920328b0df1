#include "made_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "agent/trace/map.h"

#define KEY 0x8000000000100000ULL

/* The one there is: trace_map() has no argument for it. */
static struct made_tree the_tree;

/* As agent/trace/map.c has it, where there is memory. */
void *trace_map(u64 bytes)
{
	if (the_tree.maps_left == 0)
		return NULL;
	the_tree.maps_left--;
	the_tree.maps_made++;
	void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return place == MAP_FAILED ? NULL : place;
}

void trace_unmap(void *place, u64 bytes)
{
	the_tree.maps_made--;
	munmap(place, bytes);
}

int made_tree_setup(void **state)
{
	the_tree = (struct made_tree){ .now = 1000, .first = 1000, .maps_left = 1 };
	/* Zeros, of which a page costs memory when it is used. */
	the_tree.area = mmap(NULL, sizeof *the_tree.area, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (the_tree.area == MAP_FAILED)
		return -1;
	the_tree.calls = (struct call_stack){ .area = the_tree.area,
					      .entries = the_tree.entries,
					      .top = the_tree.entries,
					      .limit = the_tree.entries + MADE_TREE_ENTRIES - 1,
					      .last_ticks = the_tree.now };
	the_tree.entries[0] =
		(struct trace_entry){ .node = trace_add_child(&the_tree.calls, TRACE_NO_NODE,
							      TRACE_KIND_OUTSIDE, 0,
							      TRACE_OUTSIDE) };
	*state = &the_tree;
	return 0;
}

int made_tree_teardown(void **state)
{
	struct made_tree *made = *state;

	trace_index_drop(&made->calls.index);
	return munmap(made->area, sizeof *made->area) | made->maps_made;
}

/* As agent/trace/trace.c does it, but for the names. */
u32 made_tree_place(struct made_tree *made, u64 identity)
{
	struct call_stack *calls = &made->calls;
	const u32 parent = calls->top->node;
	u32 node = trace_likely_child(calls, parent, identity);

	if (node == TRACE_NO_NODE)
		node = trace_find_child(calls, parent, identity);
	if (node == TRACE_NO_NODE &&
	    trace_node_at(calls, parent)->depth >= trace_depth_limit(calls))
		node = trace_find_merged(calls, parent, identity, false);
	if (node == TRACE_NO_NODE)
		node = trace_add_child(calls, parent, TRACE_KIND_PYTHON, identity, KEY);
	return node != TRACE_NO_NODE ? node : trace_find_merged(calls, parent, identity, true);
}

void made_tree_enter(struct made_tree *made, u64 function, u64 ticks)
{
	const struct trace_entry entry = { .object = function,
					   .start_ticks = made->now + ticks };

	made->now += ticks;
	trace_advance(&made->calls, made->now);
	trace_push(&made->calls, made_tree_place(made, function), entry);
}

void made_tree_leave(struct made_tree *made, u64 function, u64 ticks)
{
	made->now += ticks;
	trace_close(&made->calls, function, 0, made->now);
}

const struct trace_node *made_tree_node(const struct made_tree *made, u64 identity)
{
	for (u32 i = TRACE_CHUNK_NODES; i < 65536; i++) {
		if (made->area->nodes[i].identity == identity)
			return &made->area->nodes[i];
	}
	fail();
	return NULL;
}

u64 made_tree_sum(const struct made_tree *made, u64 *out_calls, u32 *out_depth)
{
	u64 ticks = 0;

	*out_calls = 0;
	*out_depth = 0;
	for (u32 i = TRACE_CHUNK_NODES; i < TRACE_CHUNKS * TRACE_CHUNK_NODES; i++) {
		const struct trace_node *node = &made->area->nodes[i];

		if (i % TRACE_CHUNK_NODES == 0 &&
		    made->area->owners[i / TRACE_CHUNK_NODES] == 0) {
			i += TRACE_CHUNK_NODES - 1;
			continue;
		}
		ticks += node->self_ticks;
		*out_calls += node->calls;
		if (node->depth > *out_depth)
			*out_depth = node->depth;
	}
	return ticks;
}
