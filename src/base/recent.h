/*
 * recent - a hash table of bounded size, which forgets keys that were not used lately.
 *
 * Two generations: a key is looked up in the younger one, then in the older, from which it
 * moves back to the younger. When the younger one is full it becomes the older, and the
 * remaining keys of the former older one are forgotten. So a key that is used at least once
 * while `limit` others are is never forgotten, and at most 2 * limit are held.
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
 * The key's value, created as zero if the key is unknown or was forgotten; *out_is_new says
 * which (may be NULL). The pointer lives until the next recent_at().
 */
uint64_t *recent_at(struct recent *recent, uint64_t hi, uint64_t lo, bool *out_is_new);
void recent_done(struct recent *recent);
