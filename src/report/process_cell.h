/*
 * process_cell - a cell of a table that says which process it is.
 */
#pragma once
#include "report/style.h"

struct grid;
struct process;

/* Which process it is, or the name where there is none (NULL: "-"). */
void process_cell_add(struct grid *grid, enum tint tint, const struct process *process,
		      const char *name);
