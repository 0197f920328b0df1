/*
 * Represents own functions without a name by one of them per module, as an address says
 * nothing. They have rows of their own if few other functions are named.
 */
#include "profile/hot_paths_internal.h"

#include <string.h>

#include "base/memory.h"
#include "profile/filter.h"
#include "profile/function_origin.h"
#include "profile/packages.h"
#include "profile/sum.h"

/* Per cent of own code's time that must have a named function on the stack. */
enum { MOSTLY_NAMED = 50 };

enum { OWN = 1, NAMED = 2 }; /* flags of a stack */

static unsigned int kind_of(const struct hot_builder *builder, struct function_id id)
{
	if (!packages_is_own(builder->packages, id))
		return 0;
	return function_is_nameless(builder->profile,
				    profile_get_function(builder->profile, id))
		       ? OWN
		       : OWN | NAMED;
}

static bool is_mostly_named(const struct hot_builder *builder)
{
	CLEANUP(freep) unsigned char *has = xzalloc(builder->stacks + 1);
	uint64_t own_ns = 0, named_ns = 0;
	bool is_saturated = false;

	for (uint32_t i = 1; i <= builder->stacks; i++)
		has[i] = (unsigned char)(has[hot_caller_of(builder, i)] |
					 kind_of(builder, hot_function_of(builder, i)));
	for (size_t i = 0; i < profile_weight_count(builder->profile); i++) {
		const struct weight *weight = profile_get_weight(builder->profile, i);

		if (!filter_keeps(builder->filter, weight))
			continue;
		if (has[weight->stack.n] & OWN)
			sum_add(&own_ns, weight->ns, &is_saturated);
		if (has[weight->stack.n] & NAMED)
			sum_add(&named_ns, weight->ns, &is_saturated);
	}
	return named_ns > 0 && named_ns >= hot_percent_of(own_ns, MOSTLY_NAMED);
}

void hot_find_named(struct hot_builder *builder)
{
	const size_t count = profile_function_count(builder->profile);
	const bool is_named = is_mostly_named(builder);
	struct table first = { 0 }; /* module to its first function without a name */

	builder->is_own = xzalloc((count + 1) * sizeof *builder->is_own);
	builder->stands_for = xzalloc((count + 1) * sizeof *builder->stands_for);
	for (uint32_t i = 1; i <= count; i++) {
		const struct function_id id = { i };
		const unsigned int kind = kind_of(builder, id);

		builder->is_own[i] = kind != 0 && !(is_named && kind == OWN);
		if (kind == OWN) {
			const struct function *function =
				profile_get_function(builder->profile, id);
			uint64_t *known = table_at(&first, 0, function->module.n, NULL);

			*known = *known ? *known : i;
			builder->stands_for[i] = (uint32_t)*known;
		}
	}
	table_done(&first);
}
