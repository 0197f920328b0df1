/*
 * index - hash tables that find a callee among a caller's many children, by its identity.
 *
 * A caller's children form a list.  A caller of thousands, such as one that dispatches requests or
 * executes a table of commands, would search a long list at each call.  So a search that goes too
 * far puts all children of this caller into its thread's table, where the next search finds them
 * at once (trace_node.is_wide).
 *
 * A table holds node numbers; the node itself has its parent and identity.  An entry whose node has
 * another identity by now is skipped.  Tables of all sizes lie one behind the other in one mapping,
 * each twice as large as the last: a search that a signal interrupts, and that goes on in the old
 * table, still finds that intact.  Unused pages cost no memory.
 */
#pragma once
#include <stdbool.h>

#include "agent/trace/call_stack.h"

#define TRACE_INDEX_FIRST_BITS 10U /* a page */
#define TRACE_INDEX_LAST_BITS  20U /* enough for all nodes of the area */

/* Finds a child; TRACE_NO_NODE: it is not in the table. */
u32 trace_index_find(const struct call_stack *calls, u32 parent, u64 identity);
/* Adds a node.  False: no room; none of its parent's children may be looked for here any more. */
bool trace_index_add(struct call_stack *calls, u32 node);
/* Adds all children of a node, which may be looked for here then.  False: no room. */
bool trace_index_add_children(struct call_stack *calls, u32 parent);
/* Frees the table's memory. */
void trace_index_drop(struct trace_index *index);
