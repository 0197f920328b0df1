/*
 * build_stacks - adds a recording's modules, functions, frames and stacks to a profile.
 *
 * Names were read before (names.h).  Frames of interpreters are folded (fold.h), and functions
 * that were not to be counted are left out (only.h).
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
 * Maps the recording's ids to the profile's.  The caller sets .profile, .names, .folding and
 * .err, all else to 0; then build_stacks_begin(), and build_stacks_done().
 */
struct build_stacks {
	struct profile *profile;
	const struct names *names;
	const struct folding *folding;
	struct error *err;
	struct only only;
	struct table modules;
	struct table agents;     /* the recording's ids of modules that are fathom's agent */
	struct table agent_rows; /* stacks that end in these, to the id of the row outside */
	struct stack_id *ids;    /* by id - 1: there are tens of millions in some */
	size_t count, capacity;
	struct stack_base *bases; /* likewise; NULL if nothing is folded */
	size_t base_capacity;
	bool *is_left_out; /* likewise: not to be counted; NULL unless some were */
	size_t left_out_capacity;
	struct table module_mappings; /* a module to the index + 1 of its first mapping */
	struct recording_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct function_id *functions; /* by index of names */
	struct function_id *imports;   /* likewise, of imported modules' code; NULL: none */
	struct intern packages;        /* with imports: the folders that have an __init__.py */
};

void build_stacks_begin(struct build_stacks *stacks);
/* Reads mappings and modules, which functions belong to. */
int build_stacks_modules(struct build_stacks *stacks, struct recording_reader *reader);
/* Reads stacks.  -EBADMSG and a sentence if one refers to something missing. */
int build_stacks_read(struct build_stacks *stacks, struct recording_reader *reader);
void build_stacks_done(struct build_stacks *stacks);

/* The profile's stack; 0 if there is none. */
static inline struct stack_id build_stack_of(const struct build_stacks *stacks, uint32_t id)
{
	return id != 0 && id <= stacks->count ? stacks->ids[id - 1] : (struct stack_id){ 0 };
}
