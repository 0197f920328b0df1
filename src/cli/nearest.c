#include "cli/nearest.h"

#include <string.h>

/* Longer words are not taken for typing errors. */
#define WORD_MAX 32

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's distance: letters inserted, removed or replaced. */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[WORD_MAX + 1];

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = smallest(row[j] + 1, row[j - 1] + 1, replaced);
		}
	}
	return row[b_len];
}

void nearest_consider(struct nearest *nearest, const char *typed, const char *candidate)
{
	size_t typed_len = strlen(typed), len = strlen(candidate);

	if (typed_len > WORD_MAX || len > WORD_MAX || typed_len == 0)
		return;
	size_t distance = edit_distance(typed, typed_len, candidate, len);

	/* The beginning of a word is probably an abbreviation, however much is missing. */
	if (typed_len >= 2 && strncmp(typed, candidate, typed_len) == 0)
		distance = 1;
	if (distance > (len + 2) / 3)
		return;
	if (!nearest->word || distance < nearest->distance)
		*nearest = (struct nearest){ candidate, distance };
}
