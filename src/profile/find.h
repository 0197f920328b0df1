/*
 * find - finds the functions that a name typed by a user refers to.
 *
 * Ways to match, in this order: the exact name; a Python name after its module's
 * (json.decoder.JSONDecoder.decode); the name without parameters or qualifiers ("bar" is
 * Foo#bar, and "block in bar" is "block in Foo#bar"); a part of it; a part, ignoring case. A
 * shortened name is typed as reports show it, with its "…". The first way that matches anything
 * is used; if the matches have several names, the user is asked to choose. All functions of one
 * name match (static ones in two modules; overloads and instances of a template). Functions
 * without any time never match.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;
struct profile;

struct found {
	bool *is_meant; /* by function id; [0] is false */
	size_t count;
	char *name; /* the full name; of template instances their common part */
};

/*
 * -ENOENT with similar names if nothing matches, -EINVAL with the names if several match.
 * Release with found_done().
 */
int find_functions(const struct profile *profile, const char *name, struct found *out_found,
		   struct error *err);
void found_done(struct found *found);
