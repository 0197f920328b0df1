/* process_cell - a table cell that names a process. */
#pragma once
#include "report/style.h"

struct grid;
struct process;

/* Adds the process's label, or name if there is no process (NULL: "-"). */
void process_cell_add(struct grid *grid, enum tint tint, const struct process *process,
		      const char *name);
