#include "load/blame_sums.h"

#include <stdlib.h>

#include "base/memory.h"
#include "load/timelines.h"

/* The key is all five fields: there are fewer than 2^30 stacks. */
void blame_sums_add(struct blame_sums *sums, const struct blame *row, uint64_t ns)
{
	const uint64_t hi = (uint64_t)row->waiter.n << 32 | row->owner.n;
	const uint64_t lo = (uint64_t)row->waiter_stack.n << 34 |
			    (uint64_t)row->owner_stack.n << 4 | (uint64_t)row->state;
	uint64_t *place = table_at(&sums->index, hi, lo, NULL);

	if (*place == 0) {
		sums->rows = array_grow(sums->rows, sums->count, &sums->capacity,
					sizeof *sums->rows);
		sums->rows[sums->count] = *row;
		*place = ++sums->count;
	}
	sums->rows[*place - 1].ns += ns;
	sums->rows[*place - 1].waits++;
}

void blame_sums_add_unowned(struct blame_sums *sums, const struct timeline *waiter,
			    const struct slice *slice)
{
	blame_sums_add(sums,
		       &(struct blame){ .state = (enum thread_state)slice->state,
					.waiter = waiter->thread,
					.waiter_stack = slice->stack },
		       (uint64_t)slice->ns);
}

void blame_sums_done(struct blame_sums *sums)
{
	free(sums->rows);
	table_done(&sums->index);
	*sums = (struct blame_sums){ 0 };
}
