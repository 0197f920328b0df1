/*
 * call_tree_stacks - the recording's stack of a node of a call tree.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;
struct pump;

/*
 * Whether the recording has the stack of a node, whose key was this, now: a name may be on its
 * way.
 */
bool call_tree_find_stack(struct image *image, struct pump *pump, uint32_t node, uint64_t key,
			  bool is_last);
