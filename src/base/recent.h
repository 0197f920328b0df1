/*
 * recent - a hash table of bounded size, which forgets what was not asked for lately.
 *
 * Two generations: a key is looked for in the younger one, then in the older, from where it
 * comes back to the younger.  When the younger one is full it becomes the older, and what the
 * older still held is forgotten.  So a key that is asked for at least once while `limit` others
 * are is never forgotten, and at most 2 * limit are held.
 *
 * A zero-initialized struct is an empty one without a limit.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

struct recent {
	struct table young, old;
	size_t limit; /* of one generation; a table of 2^n slots is best used by 3/4 of them */
};

/*
 * The place of the key's value, made (as zero) if it is not known, or not any more;
 * *out_is_new says which (may be NULL).  The pointer lives until the next recent_at().
 */
uint64_t *recent_at(struct recent *recent, uint64_t hi, uint64_t lo, bool *out_is_new);
void recent_done(struct recent *recent);
