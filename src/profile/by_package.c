#include "profile/by_package.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/filter.h"
#include "profile/groups.h"
#include "profile/packages.h"
#include "profile/sum.h"

/* The first rows; packages follow in the order of their numbers. */
enum { ROW_OWN, ROW_IMPORT, ROW_FIRST_PACKAGE };

struct by_package {
	const struct profile *profile;
	const struct packages *packages;
	uint32_t *row_of;  /* by stack */
	uint32_t *counted; /* by row: the last weight counted in its total */
	struct groups *groups;
};

/* The row of a function; bracketed functions like [exit] are packages of their own. */
static uint32_t row_of_function(const struct by_package *by, struct function_id function)
{
	const uint32_t package = packages_of(by->packages, function);
	const enum own_rule rule = packages_own_rule(by->packages);
	const bool is_own = rule == OWN_BY_PATH || rule == OWN_ASKED
				    ? packages_is_own(by->packages, function)
				    : packages_get(by->packages, package)->origin == ORIGIN_OWN;

	return is_own ? ROW_OWN : ROW_FIRST_PACKAGE + package;
}

/* Finds each stack's row; own code that runs during its import counts as own code. */
static void place_stacks(struct by_package *by)
{
	const size_t stacks = profile_stack_count(by->profile);

	by->row_of = xzalloc((stacks + 1) * sizeof *by->row_of);
	by->row_of[0] = ROW_FIRST_PACKAGE;
	for (uint32_t i = 1; i <= stacks; i++) {
		const struct stack *stack =
			profile_get_stack(by->profile, (struct stack_id){ i });
		const struct function_id function =
			profile_get_frame(by->profile, stack->frame)->function;
		const uint32_t row = row_of_function(by, function);
		const bool is_imported = by->row_of[stack->parent.n] == ROW_IMPORT ||
					 packages_is_import(by->packages, function);

		by->row_of[i] = row != ROW_OWN && is_imported ? ROW_IMPORT : row;
	}
}

static void name_rows(struct by_package *by)
{
	struct groups *groups = by->groups;

	groups->count = ROW_FIRST_PACKAGE + packages_count(by->packages) + 1;
	groups->rows = xzalloc(groups->count * sizeof *groups->rows);
	for (uint32_t i = ROW_FIRST_PACKAGE; i < groups->count; i++) {
		const struct package *package =
			packages_get(by->packages, i - ROW_FIRST_PACKAGE);

		/* The copy lives as long as the profile, longer than the packages. */
		groups->rows[i].name =
			profile_copy_string((struct profile *)by->profile, package->name);
		groups->rows[i].origin = origin_word(package->origin);
	}
	groups->rows[ROW_OWN].name = "[own code]";
	groups->rows[ROW_OWN].origin = origin_word(ORIGIN_OWN);
	groups->rows[ROW_IMPORT].name = "[imports]";
	groups->rows[ROW_IMPORT].origin = "import";
	for (size_t i = 0; i < groups->count; i++)
		groups->rows[i].cost.times = CALL_TIMES_NONE;
}

/* number: of the weight, counted from 1; marks the rows that already have it. */
static void add_weight(struct by_package *by, const struct weight *weight, uint32_t number)
{
	const struct call_times times = profile_get_call_times(by->profile, number - 1);
	struct groups *groups = by->groups;
	struct cost *self = &groups->rows[by->row_of[weight->stack.n]].cost;
	uint32_t stack = weight->stack.n;

	call_times_add(&self->times, &times, &groups->is_saturated);
	sum_add(&self->self_ns, weight->ns, &groups->is_saturated);
	sum_add(&self->self_samples, weight->samples, &groups->is_saturated);
	sum_add(&self->calls, weight->calls, &groups->is_saturated);
	sum_add(&groups->ns, weight->ns, &groups->is_saturated);
	sum_add(&groups->samples, weight->samples, &groups->is_saturated);
	do {
		const uint32_t row = by->row_of[stack];
		struct cost *cost = &groups->rows[row].cost;

		if (by->counted[row] != number) {
			sum_add(&cost->total_ns, weight->ns, &groups->is_saturated);
			sum_add(&cost->total_samples, weight->samples, &groups->is_saturated);
			sum_add(&cost->raw_total_ns, times.raw_ns, &groups->is_saturated);
		}
		by->counted[row] = number;
		if (stack != 0)
			stack = profile_get_stack(by->profile, (struct stack_id){ stack })
					->parent.n;
	} while (stack != 0);
	sum_add(&self->primitive_calls, weight->calls, &groups->is_saturated);
}

static void find_intervals(const struct by_package *by, const struct filter *filter)
{
	const size_t stacks = profile_stack_count(by->profile);
	CLEANUP(freep) uint32_t *parents = xzalloc((stacks + 1) * sizeof *parents);

	for (uint32_t i = 1; i <= stacks; i++)
		parents[i] = profile_get_stack(by->profile, (struct stack_id){ i })->parent.n;
	groups_find_intervals(by->groups, &(struct interval_terms){
						  .profile = by->profile,
						  .filter = filter,
						  .parents = parents,
						  .rows = by->row_of,
						  .place_count = stacks + 1,
						  .row_count = by->groups->count,
					  });
}

void groups_make_by_package(const struct profile *profile, const struct filter *filter,
			    struct groups *out)
{
	const struct packages_options own = { .own = profile_get_info(profile)->own };
	CLEANUP(packages_freep) struct packages *packages = packages_new(profile, &own);
	struct by_package by = { .profile = profile, .packages = packages, .groups = out };

	*out = (struct groups){ .is_saturated = profile_is_saturated(profile) };
	place_stacks(&by);
	name_rows(&by);
	by.counted = xzalloc(out->count * sizeof *by.counted);
	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		if (filter_keeps(filter, weight))
			add_weight(&by, weight, (uint32_t)i + 1);
	}
	find_intervals(&by, filter);
	freep(&by.row_of);
	freep(&by.counted);
}
