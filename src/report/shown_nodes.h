/*
 * shown_nodes - selects the nodes of a tree that a report shows: the heaviest, up to a number
 * of lines.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_options;
struct tree;

struct shown_nodes {
	const struct tree *tree;
	uint64_t ns; /* that percentages refer to */
	bool is_of_callers;
	bool *is_shown; /* by node; owned by the caller */
};

/*
 * Selects the heaviest nodes. A parent is at least as heavy as its children and precedes them,
 * so selected nodes are connected. Returns how many are left out.
 */
size_t shown_nodes_choose(struct shown_nodes *shown, const struct report_options *options);
/* The first shown child, as children are in descending order; 0: there is none. */
uint32_t shown_nodes_child(const struct shown_nodes *shown, uint32_t node);
uint32_t shown_nodes_sibling(const struct shown_nodes *shown, uint32_t node);
/* The one callee that all of the node's time is passed to, or 0: both then share one line. */
uint32_t shown_nodes_only_child(const struct shown_nodes *shown, uint32_t node);
/* The limits: the least share in per cent, and the maximum number of lines. */
double shown_nodes_least_percent(const struct report_options *options);
size_t shown_nodes_limit(const struct report_options *options);
