/*
 * rows - the table of a report: one row per function, line, module, region, thread, process or
 * program.
 */
#pragma once

#include "report/style.h"

struct grid;
struct process;
struct report_options;
struct selection;
struct style;
struct text;

/* A cell: which process it is, or the name where there is none (NULL: "-"). */
void rows_add_process(struct grid *grid, enum tint tint, const struct process *process,
		      const char *name);
void report_table_add(const struct selection *selection, const struct report_options *options,
		      const struct style *style, struct text *out);
