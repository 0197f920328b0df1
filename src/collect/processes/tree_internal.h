/* tree_internal - what tree.c, tree_maps.c and tree_proc.c share. */
#pragma once
#include <stdio.h>

struct sideband_event;
struct tree;

/* A mapping that the kernel reported. */
void tree_take_map(struct tree *tree, const struct sideband_event *event);

/* A thread's or process's name, cut as the kernel cuts it. */
static inline void tree_copy_name(char to[16], const char *name)
{
	snprintf(to, 16, "%s", name);
}
