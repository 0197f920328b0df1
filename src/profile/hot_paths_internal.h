/*
 * hot_paths_internal - what the files that make hot paths share.  Places in arrays by stack or
 * function are their ids.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "profile/hot_paths.h"
#include "profile/profile.h"

struct filter;
struct packages;

struct hot_builder {
	const struct profile *profile;
	const struct packages *packages;
	const struct filter *filter; /* NULL: everything */
	struct hot_paths *paths;
	struct table index; /* parent, kind, wait and function: the node */
	size_t stacks;
	bool *is_own; /* a function that has a row of its own */
	/* Own code without a name: the function that all of its module's is known by. */
	uint32_t *stands_for;
	uint32_t *node_of;  /* a stack's node */
	uint64_t *total_ns; /* of a stack and those below it */
};

static inline uint64_t hot_percent_of(uint64_t ns, unsigned int percent)
{
	return ns / 100 * percent + ns % 100 * percent / 100;
}

static inline struct function_id hot_function_of(const struct hot_builder *builder,
						 uint32_t stack)
{
	const struct profile *profile = builder->profile;

	return profile_get_frame(profile,
				 profile_get_stack(profile, (struct stack_id){ stack })->frame)
		->function;
}

static inline uint32_t hot_caller_of(const struct hot_builder *builder, uint32_t stack)
{
	return profile_get_stack(builder->profile, (struct stack_id){ stack })->parent.n;
}

/* hot_build.c: the node under parent for it, made if there is none. */
uint32_t hot_child(struct hot_builder *builder, uint32_t parent, enum hot_kind kind,
		   struct function_id function);
/* The same of what is waited for (struct hot_node). */
uint32_t hot_wait_child(struct hot_builder *builder, uint32_t parent, enum hot_kind kind,
			struct function_id function, struct function_id wait);
/* hot_named.c: fills is_own and stands_for. */
void hot_find_named(struct hot_builder *builder);
/* hot_wrappers.c: then takes functions that only pass calls on out of is_own. */
void hot_find_wrappers(struct hot_builder *builder);
/* hot_merge.c: makes light functions that one node calls one node, if that is worth it. */
bool hot_merge(struct hot_builder *builder);
/* hot_outer.c: finds functions that have most of what runs without own code; false: nothing has changed. */
bool hot_split_outer(struct hot_builder *builder);
/* hot_passed.c: which packages stand between own code. */
void hot_find_passed(struct hot_builder *builder);
