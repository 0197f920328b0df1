/*
 * json_views - the arrays of report --json: functions, lines, modules, threads, processes,
 * and the trees.
 */
#pragma once
#include "profile/group.h"

struct error;
struct json_writer;
struct report_options;
struct selection;

/* Adds "functions", "lines", "modules", "threads" or "processes". */
void json_views_add_rows(struct json_writer *writer, const struct selection *selection,
			 enum group_by by);
/* Adds those of "tree", "callers" and "callees" that were requested. */
int json_views_add_trees(struct json_writer *writer, const struct selection *selection,
			 const struct report_options *options, struct error *err);
