/*
 * missing - what a reader must know before believing a report: stacks that are cut short, with the
 * reason of most, samples that were lost, time of which too little is known.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct profile;
struct profile_info;
struct text;

/*
 * Nothing where all is as it should be.  Of a brief program it is not said that most of it is shorter
 * than a sampling period: it has a line of its own.  In short without reasons.  Returns how many parts
 * it has.
 */
size_t missing_add(struct text *text, const struct profile *profile, bool is_brief,
		   bool is_short);
/* Whether it says that the account and the kernel's figure differ. */
bool missing_has_unexplained(const struct profile_info *info);
