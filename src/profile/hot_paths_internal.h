/*
 * hot_paths_internal - shared by the files that make hot paths. Arrays by stack or function are
 * indexed by id.
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
	struct table index; /* (parent, kind, wait and function) to the node */
	size_t stacks;
	bool *is_own; /* by function: whether it gets nodes of its own */
	/*
	 * By function: for own code without a name, the function that represents its module;
	 * else 0.
	 */
	uint32_t *stands_for;
	uint32_t *node_of;  /* by stack: its node */
	uint64_t *total_ns; /* of a stack and those below it */
	bool *is_for_child; /* by weight: child_waits.h; NULL: none is */
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

/* hot_build.c: the child of parent with this kind and function, created if needed. */
uint32_t hot_child(struct hot_builder *builder, uint32_t parent, enum hot_kind kind,
		   struct function_id function);
/* Likewise for a wait (struct hot_node). */
uint32_t hot_wait_child(struct hot_builder *builder, uint32_t parent, enum hot_kind kind,
			struct function_id function, struct function_id wait);
/* hot_named.c: fills is_own and stands_for. */
void hot_find_named(struct hot_builder *builder);
/* hot_wrappers.c: afterwards removes functions that only pass calls on from is_own. */
void hot_find_wrappers(struct hot_builder *builder);
/*
 * hot_merge.c: merges light functions called by one node, if that is worth it; false: nothing
 * changed.
 */
bool hot_merge(struct hot_builder *builder);
/*
 * hot_outer.c: names what runs without own code by its main functions; false: nothing changed.
 */
bool hot_split_outer(struct hot_builder *builder);
/* hot_passed.c: finds which packages are between own code. */
void hot_find_passed(struct hot_builder *builder);
