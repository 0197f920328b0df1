/* call_tree_stacks - finds or writes the recording's stack for a node of a call tree. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;
struct pump;

/*
 * True if the recording now has the stack of the node, whose key was this.  False: a name on
 * its path has not come yet; never with is_last, when unknown functions take their place.
 */
bool call_tree_find_stack(struct image *image, struct pump *pump, uint32_t node, uint64_t key,
			  bool is_last);
