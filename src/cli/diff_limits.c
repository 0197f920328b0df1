/*
 * Checks limits on changes: of the time in a function and all it calls; "total" is the whole.
 */
#include "cli/diff_limits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/say.h"
#include "profile/compare.h"

int diff_limits_add(struct diff_limits *limits, const char *text, struct error *err)
{
	const char *at = strrchr(text, '>');
	char *end = NULL;
	const double percent = at ? strtod(at + 1, &end) : 0;

	if (limits->count == DIFF_LIMITS_MAX)
		return error_set(err, -EINVAL, "option '--fail-if' can be given %d times",
				 DIFF_LIMITS_MAX);
	if (!at || at == text || end == at + 1 || strcmp(end, "%") != 0 || !(percent >= 0) ||
	    isinf(percent))
		return error_set(err, -EINVAL,
				 "option '--fail-if' takes a limit as 'normalize>+20%%' or "
				 "'total>+5%%', not '%s'",
				 text);
	limits->rows[limits->count++] = (struct diff_limit){ text, at, percent / 100 };
	return 0;
}

/* is_exact: both values are exact, so no test is needed. */
static enum limit_outcome outcome_of(const struct diff_limits *limits,
				     const struct diff_limit *limit,
				     const struct change *change, bool is_exact)
{
	if (is_exact)
		return change_share(change) > limit->share ? LIMIT_PASSED : LIMIT_KEPT;
	return change_check_limit(change, limit->share, limits->count);
}

static bool is_named(const struct diff_limit *limit, const char *name)
{
	const size_t len = (size_t)(limit->name_end - limit->text);

	return strlen(name) == len && strncmp(name, limit->text, len) == 0;
}

static bool say_outcome(const struct diff_limits *limits, const struct diff_limit *limit,
			const char *name, const struct change *change,
			enum limit_outcome outcome)
{
	const double share = 100 * change_share(change);

	if (outcome == LIMIT_PASSED && isinf(share))
		say("%s: '%s' is new", limit->text, name);
	else if (outcome == LIMIT_PASSED)
		say("%s: '%s' takes %+.1f %% (%+.1f to %+.1f %%)", limit->text, name, share,
		    100 * change->low_ns / change->before_ns,
		    100 * change->high_ns / change->before_ns);
	else if (outcome == LIMIT_UNDECIDED && isinf(share))
		say("%s: cannot tell: '%s' may be new, or only was not sampled before; more or "
		    "longer recordings could decide",
		    limit->text, name);
	else if (outcome == LIMIT_UNDECIDED)
		say("%s: cannot tell: '%s' changed by %+.1f %% (%+.1f to %+.1f %%), which may "
		    "be "
		    "chance; more or longer recordings could decide",
		    limit->text, name, share, 100 * change->low_ns / change->before_ns,
		    100 * change->high_ns / change->before_ns);
	return outcome == LIMIT_PASSED || (outcome == LIMIT_UNDECIDED && limits->is_strict);
}

int diff_limits_check(const struct diff_limits *limits, const struct comparison *comparison)
{
	bool has_failed = false;

	for (size_t i = 0; i < limits->count; i++) {
		const struct diff_limit *limit = &limits->rows[i];
		const bool is_total = is_named(limit, "total");
		bool is_there = is_total;

		if (is_total)
			has_failed |= say_outcome(limits, limit, "total", &comparison->whole,
						  outcome_of(limits, limit, &comparison->whole,
							     !comparison->is_over_runs));
		for (size_t j = 0; j < comparison->count && !is_total; j++) {
			const struct compared *row = &comparison->rows[j];

			if (!is_named(limit, row->name) &&
			    !(row->former_name && is_named(limit, row->former_name)))
				continue;
			is_there = true;
			has_failed |=
				say_outcome(limits, limit, row->name, &row->total,
					    outcome_of(limits, limit, &row->total, false));
		}
		if (!is_there)
			say("%s: nothing of that name is in the recordings", limit->text);
		has_failed |= !is_there && limits->is_strict;
	}
	return has_failed ? EXIT_CODE_FAILED : EXIT_CODE_OK;
}
