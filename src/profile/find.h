/*
 * find - which functions a name typed by a person means.
 *
 * The exact name first, then a Python name behind the name of its module
 * (json.decoder.JSONDecoder.decode), then the name without its parameters or qualifiers ("bar"
 * is Foo#bar, and "block in bar" is "block in Foo#bar"), then a part of it, then a part
 * whatever its case.  A shortened name is typed as it is shown, with its "…".  The first of these
 * that fits anything decides; if what fits has several names, the person is asked to choose.
 * Functions of one name (two static ones, one in each of two modules; overloads and instances of a
 * template) are all meant.  Functions without any time are none.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;
struct profile;

struct found {
	bool *is_meant; /* by function id; [0] is false */
	size_t count;
	char *name; /* whole; of a template's instances without what distinguishes them */
};

/*
 * -ENOENT with near names when nothing fits, -EINVAL with the names when several do.
 * Release with found_done().
 */
int find_functions(const struct profile *profile, const char *name, struct found *out_found,
		   struct error *err);
void found_done(struct found *found);
