/* What the rows of hot paths (hot.c) and what they are called (hot_label.c) share. */
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
	unsigned int *components; /* by node: how many of its path are shown (places.h) */
	size_t place_columns;     /* of the longest place in a row; 0: there is none */
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

/* "hot paths of your code" (hot_title.c). */
void hot_title_add(struct text *out, const struct hot *hot);
/* "jsonify [flask, mostly _json]". */
void hot_label_add_library(struct text *out, const struct hot *hot,
			   const struct hot_node *node);
/* "861 functions" */
void hot_label_add_group(struct text *out, const struct hot_node *node);
/* The packages between it and its caller are named if that leaves room for the function's name. */
void hot_label_add_own(struct text *out, const struct hot *hot, uint32_t node, size_t columns);
/*
 * What its name has more than its caller's behind that: "<listcomp>" of shop's; NULL:
 * it is another name.
 */
const char *hot_label_behind_caller(const struct hot *hot, uint32_t node, uint32_t caller);
/* What a row's names may take: those of a terminal, less what stands beside them. */
size_t hot_label_columns(const struct hot *hot, unsigned int level);
/* The names of a chain, outermost first, which are freed; outer ones without room are left out. */
void hot_label_join(struct text *out, struct text *names, size_t count, size_t columns);
