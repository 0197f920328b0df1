/*
 * packages - from which package each function of a profile is, and which are one's own.
 *
 * One's own is code that is not in the standard library, an installed package, the interpreter or
 * the distribution.  Where hardly any time has such code on the stack (1 % of it) - a program of the
 * distribution's is profiled - the next best stands for it: enum own_rule.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/ids.h"
#include "profile/origin.h"

struct packages;
struct profile;

struct package {
	const char *name;
	enum origin origin;
};

/* What was taken for one's own. */
enum own_rule {
	OWN_BY_PATH,
	OWN_ASKED,       /* what the user named */
	OWN_INTERPRETED, /* installed Python and Ruby code */
	OWN_PROGRAMS,    /* the programs themselves, without their libraries */
	OWN_ALL,
};

struct packages_options {
	const char *own; /* parts of paths, of which one fits, at commas; NULL: by the rule */
	bool is_all_own;
};

/* Borrows the profile. */
struct packages *packages_new(const struct profile *profile,
			      const struct packages_options *options);
void packages_free(struct packages *packages);
void packages_freep(struct packages **packages);

enum own_rule packages_own_rule(const struct packages *packages);
bool packages_is_own(const struct packages *packages, struct function_id function);
/* Python's import system, Ruby's require: between an import and the module that it loads. */
bool packages_is_import(const struct packages *packages, struct function_id function);
/* From 1 to the count, in no order; 0 for no function. */
uint32_t packages_of(const struct packages *packages, struct function_id function);
size_t packages_count(const struct packages *packages);
/* Never NULL; lives as long as packages. */
const struct package *packages_get(const struct packages *packages, uint32_t package);
