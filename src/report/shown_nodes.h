/*
 * shown_nodes - which nodes of a tree a report shows: the heaviest, up to a number of lines.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_options;
struct tree;

struct shown_nodes {
	const struct tree *tree;
	uint64_t ns; /* what percentages are of */
	bool is_of_callers;
	bool *is_shown; /* by node; the caller's */
};

/*
 * Chooses the heaviest nodes.  A parent is at least as heavy as its children and stands
 * before them, so what is chosen hangs together.  Returns how many are left out.
 */
size_t shown_nodes_choose(struct shown_nodes *shown, const struct report_options *options);
/* Children are in descending order, so those shown come first; 0: there is none. */
uint32_t shown_nodes_child(const struct shown_nodes *shown, uint32_t node);
uint32_t shown_nodes_sibling(const struct shown_nodes *shown, uint32_t node);
/* The one callee that all of the node's time is passed on to, or 0: both stand on one line. */
uint32_t shown_nodes_only_child(const struct shown_nodes *shown, uint32_t node);
/* What decides: the least share in percent, and how many lines at the most. */
double shown_nodes_least_percent(const struct report_options *options);
size_t shown_nodes_limit(const struct report_options *options);
