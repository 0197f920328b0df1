/*
 * rows - prints the table of a report: one row per function, line, module, region, thread,
 * process or program.
 */
#pragma once

struct report_options;
struct selection;
struct style;
struct text;

void report_table_add(const struct selection *selection, const struct report_options *options,
		      const struct style *style, struct text *out);
