#include "record/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool sums_add(struct sums *sums, const struct recording_sum *row)
{
	uint64_t *place = table_at(&sums->index, (uint64_t)row->thread << 32 | row->state,
				   row->stack, NULL);

	if (*place == 0) {
		sums->rows = array_grow(sums->rows, sums->count, &sums->capacity,
					sizeof *sums->rows);
		sums->rows[sums->count++] = (struct recording_sum){ .thread = row->thread,
								    .stack = row->stack,
								    .state = row->state };
		*place = sums->count;
	}
	struct recording_sum *sum = &sums->rows[*place - 1];

	return !__builtin_add_overflow(sum->weight_ns, row->weight_ns, &sum->weight_ns) &&
	       !__builtin_add_overflow(sum->samples, row->samples, &sum->samples) &&
	       !__builtin_add_overflow(sums->samples, row->samples, &sums->samples);
}

void sums_clear(struct sums *sums)
{
	table_done(&sums->index);
	sums->count = 0;
	sums->samples = 0;
	memset(sums->endings, 0, sizeof sums->endings);
}

void sums_done(struct sums *sums)
{
	table_done(&sums->index);
	free(sums->rows);
	*sums = (struct sums){ 0 };
}
