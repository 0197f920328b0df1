/*
 * index - the children of callers that have many, by their identity.
 *
 * A caller of some functions has them in a list; one of thousands, such as what hands out
 * requests or executes a table of commands, would look through the list at each call.  So a
 * search that goes too far puts all of a caller's children into a table of its thread's, where
 * the next one finds them at once (trace_node.is_wide).
 *
 * A table has numbers of nodes, of which each says itself whose child it is: an entry whose node
 * has another identity by now is passed over.  Tables of all sizes lie in one piece of address
 * space behind each other, and the one in use is twice the last one's size: code that is interrupted by
 * a signal, and goes on with the last one, reads what is still there.  What of it is not used
 * costs no memory.
 */
#pragma once
#include <stdbool.h>

#include "agent/trace/call_stack.h"

#define TRACE_INDEX_FIRST_BITS 10U /* a page */
#define TRACE_INDEX_LAST_BITS  20U /* one for all nodes that there are */

/* TRACE_NO_NODE: it is not there. */
u32 trace_index_find(const struct call_stack *calls, u32 parent, u64 identity);
/* False: there is no room, and nothing may be looked for here any more that is this one's parent's. */
bool trace_index_add(struct call_stack *calls, u32 node);
/* All children of a node, which may be looked for here then.  False: there is no room. */
bool trace_index_add_children(struct call_stack *calls, u32 parent);
/* Gives back its memory. */
void trace_index_drop(struct trace_index *index);
