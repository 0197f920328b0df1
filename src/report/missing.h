/*
 * missing - warnings that a reader needs before trusting a report: stacks cut short, with the
 * main reason; lost samples; time that is not accounted for.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct profile;
struct profile_info;
struct text;

/*
 * Adds nothing if there are no problems. For a brief program it does not mention that most of
 * it is shorter than a sampling period, which has a line of its own. is_short: without reasons.
 * Returns the number of parts.
 */
size_t missing_add(struct text *text, const struct profile *profile, bool is_brief,
		   bool is_short);
/* Whether it mentions that the account and the kernel's figure differ. */
bool missing_has_unexplained(const struct profile_info *info);
