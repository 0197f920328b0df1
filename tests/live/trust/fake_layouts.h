/*
 * fake_layouts - layouts of the interpreter that a process has, spoiled in one way.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct ring_header;

/* The ways, one a line: the first of each language is a layout as it should be. */
void fake_layouts_list(void);
/* Puts the layout of the process's interpreter into the ring; false: it has none, or no such way. */
bool fake_layouts_put(const char *way, pid_t pid, struct ring_header *ring);
/* While the process runs: spoils the layout of a way that says "later" when it has been used. */
void fake_layouts_change(const char *way, struct ring_header *ring);
