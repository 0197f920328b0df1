/* Shared by hot.c, which writes the rows of hot paths, and hot_label.c, which names them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/hot_paths.h"
#include "profile/profile.h"
#include "report/grid.h"
#include "report/number.h"
#include "report/selection.h"

struct packages;
struct style;
struct text;

enum { HOT_INDENT = 2 };

struct hot {
	const struct selection *selection;
	const struct packages *packages;
	const struct style *style;
	struct hot_paths paths;
	bool *is_shown;
	unsigned int *components; /* by node: how many path components to show (places.h) */
	size_t place_columns;     /* width of the longest place in a row; 0: there is none */
	struct grid grid;
};

static inline const struct function *hot_function(const struct hot *hot,
						  const struct hot_node *node)
{
	return profile_get_function(hot->selection->profile, node->function);
}

static inline bool hot_has_percent(uint64_t ns, uint64_t whole, unsigned int percent)
{
	return number_percent(ns, whole) >= percent;
}

/* Adds "hot paths of your code" (hot_title.c). */
void hot_title_add(struct text *out, const struct hot *hot);
/* Adds "jsonify [flask, mostly _json]", or what it waits for, shortened to the columns. */
void hot_label_add_library(struct text *out, const struct hot *hot, const struct hot_node *node,
			   size_t columns);
/* Whether it is the row of the time in which threads waited for a CPU, which has no stack. */
bool hot_label_is_queue(const struct hot *hot, const struct hot_node *node);
/* Adds "861 functions". */
void hot_label_add_group(struct text *out, const struct hot_node *node);
/* Names the packages between it and its caller if that leaves space for the function's name. */
void hot_label_add_own(struct text *out, const struct hot *hot, uint32_t node, size_t columns);
/*
 * What remains of a name after its caller's: "<listcomp>" of "shop.<locals>.<listcomp>" below
 * shop; NULL: its name does not begin with the caller's.
 */
const char *hot_label_behind_caller(const struct hot *hot, uint32_t node, uint32_t caller);
/* The width for a row's name: the terminal's, less that of the other columns. */
size_t hot_label_columns(const struct hot *hot, unsigned int level);
/* The same for a chain of own functions, which has a place in the next column. */
size_t hot_label_chain_columns(const struct hot *hot, unsigned int level);
/*
 * Joins and frees the names of a chain, outermost first; outer ones that do not fit are left
 * out.
 */
void hot_label_join(struct text *out, struct text *names, size_t count, size_t columns);
