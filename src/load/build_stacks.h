/*
 * build_stacks - a recording's modules, functions, frames and stacks, as a profile's.
 *
 * Names are at hand (names.h); frames of an interpreter are folded, and functions that were not to
 * be counted are left out, on the way.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "load/only.h"
#include "profile/profile.h"

struct error;
struct folding;
struct names;
struct recording_mapping;
struct recording_reader;
struct stack_base;

/*
 * The recording's ids to the profile's.  .profile, .names, .folding and .err are set by the caller,
 * all else 0; build_stacks_begin(), build_stacks_done().
 */
struct build_stacks {
	struct profile *profile;
	const struct names *names;
	const struct folding *folding;
	struct error *err;
	struct only only;
	struct table modules;
	struct stack_id *ids; /* by id - 1: there are tens of millions in some */
	size_t count, capacity;
	struct stack_base *bases; /* the same; none where nothing is folded */
	size_t base_capacity;
	bool *is_left_out; /* the same: its calls were not to be counted; none unless some were */
	size_t left_out_capacity;
	struct table module_mappings; /* a module to the index + 1 of its first mapping */
	struct recording_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct function_id *functions; /* by index of names */
	struct function_id *imports;   /* the same, of modules' code; NULL: none was imported */
	struct intern packages; /* then: the folders that are known to have an __init__.py */
};

void build_stacks_begin(struct build_stacks *stacks);
/* Mappings and modules, which functions lie in. */
int build_stacks_modules(struct build_stacks *stacks, struct recording_reader *reader);
/* A stack that names what is not there: damaged, and a sentence. */
int build_stacks_read(struct build_stacks *stacks, struct recording_reader *reader);
void build_stacks_done(struct build_stacks *stacks);

/* The profile's stack; 0 for one that is not there. */
static inline struct stack_id build_stack_of(const struct build_stacks *stacks, uint32_t id)
{
	return id != 0 && id <= stacks->count ? stacks->ids[id - 1] : (struct stack_id){ 0 };
}
