/*
 * packages - assigns each function of a profile to a package, and decides which code is the
 * user's own.
 *
 * Own code is all outside of the standard library, installed packages, the interpreter and the
 * distribution. If hardly any time (less than 1 %) has such code on the stack, as when a
 * program of the distribution is profiled, the next best code is taken as own: enum own_rule.
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

/* What was taken as own code. */
enum own_rule {
	OWN_BY_PATH,
	OWN_ASKED,       /* named by the user */
	OWN_INTERPRETED, /* installed Python and Ruby code */
	OWN_PROGRAMS,    /* the programs themselves, without their libraries */
	OWN_STANDARD, /* Python's and Ruby's standard library, as of python3 -m http.server */
	OWN_ALL,
};

struct packages_options {
	/* Parts of paths, comma-separated, of which one must match; NULL: use the rule. */
	const char *own;
	bool is_all_own;
};

/* Borrows the profile. */
struct packages *packages_new(const struct profile *profile,
			      const struct packages_options *options);
void packages_free(struct packages *packages);
void packages_freep(struct packages **packages);

enum own_rule packages_own_rule(const struct packages *packages);
bool packages_is_own(const struct packages *packages, struct function_id function);
/*
 * Whether it is part of Python's import system or Ruby's require: between an import and the
 * module that it loads.
 */
bool packages_is_import(const struct packages *packages, struct function_id function);
/* The function's package, from 1 to the count, in no order; 0 for no function. */
uint32_t packages_of(const struct packages *packages, struct function_id function);
size_t packages_count(const struct packages *packages);
/* Never NULL; lives as long as packages. */
const struct package *packages_get(const struct packages *packages, uint32_t package);
