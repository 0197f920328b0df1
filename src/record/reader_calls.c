/* Reads traced calls, and what measuring them costs. */
#include "record/reader_state.h"
#include "record/reader.h"

/*
 * Limit on sums of calls and of nanoseconds over all rows: computations with them fit in 64
 * bits.
 */
#define MOST_IN_ALL (1ULL << 60)

/* Sums over the rows so far. */
struct calls_sums {
	uint64_t calls, self_ns, left_out_ns;
};

static bool is_sum_possible(uint64_t *sum, uint64_t more)
{
	if (more > MOST_IN_ALL || *sum > MOST_IN_ALL - more)
		return false;
	*sum += more;
	return true;
}

static bool has_possible_extremes(const struct recording_calls *row)
{
	if (row->shortest_ns == RECORDING_UNKNOWN || row->longest_ns == RECORDING_UNKNOWN)
		return row->shortest_ns == row->longest_ns;
	return row->shortest_ns >= 0 && row->shortest_ns <= row->longest_ns &&
	       (uint64_t)row->longest_ns <= MOST_IN_ALL;
}

/* Negative values appear as large ones here, and are refused too. */
static bool are_calls_possible(const struct recording_calls *row, struct calls_sums *sums)
{
	for (int i = 0; i < RECORDING_UNCOUNTED_KINDS; i++) {
		if (row->uncounted[i] > MOST_IN_ALL)
			return false;
	}
	return row->thread != 0 && row->misses <= MOST_IN_ALL && has_possible_extremes(row) &&
	       is_sum_possible(&sums->calls, row->calls) &&
	       is_sum_possible(&sums->self_ns, (uint64_t)row->self_ns) &&
	       is_sum_possible(&sums->left_out_ns, (uint64_t)row->left_out_ns);
}

static struct recording_calls calls_of(struct scan *scan, struct calls_sums *sums)
{
	struct recording_calls calls = {
		.id = (uint32_t)scan->id,
		.thread = scan_id(scan, 1, TABLE_THREADS),
		.stack = scan_id(scan, 2, TABLE_STACKS),
		.calls = scan_u64(scan, 3),
		.self_ns = scan_figure(scan, 4),
		.shortest_ns = scan_figure(scan, 5),
		.longest_ns = scan_figure(scan, 6),
		.kind = scan_u32(scan, 7),
		.misses = scan_u64(scan, 8),
		.left_out_ns = scan_figure(scan, 9 + RECORDING_UNCOUNTED_KINDS),
	};

	for (int i = 0; i < RECORDING_UNCOUNTED_KINDS; i++)
		calls.uncounted[i] = scan_u64(scan, 9 + i);
	if (!are_calls_possible(&calls, sums))
		scan_damage(scan, "cannot be");
	return calls;
}

bool recording_reader_has_calls(const struct recording_reader *reader)
{
	return reader->counts[TABLE_CALLS] > 0;
}

int recording_reader_each_calls(struct recording_reader *reader,
				int (*visit)(void *context, const struct recording_calls *row),
				void *context, struct error *err)
{
	struct calls_sums sums = { 0 };
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_CALLS, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_calls row = calls_of(&scan, &sums);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}

/* A plausible ratio, in permille. */
static bool is_ratio(int64_t permille)
{
	return permille >= 1 && permille <= 1000 * 1000;
}

/*
 * Measuring a call costs less than a second, whatever the sign: larger values would overflow
 * sums.
 */
static bool is_possible(const struct recording_cost *cost)
{
	const int64_t most = 1000LL * 1000 * 1000 * 1000;
	const int64_t figures[] = { cost->inside_ps, cost->outside_ps, cost->inside_miss_ps,
				    cost->outside_miss_ps, cost->spread_ps };

	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
		if (figures[i] < -most || figures[i] > most)
			return false;
	}
	return cost->process != 0 && cost->spread_ps >= 0 && is_ratio(cost->stretch_permille) &&
	       (cost->pace_permille == RECORDING_UNKNOWN || is_ratio(cost->pace_permille));
}

static struct recording_cost cost_of(struct scan *scan)
{
	struct recording_cost cost = {
		.id = (uint32_t)scan->id,
		.process = scan_id(scan, 1, TABLE_PROCESSES),
		.kind = scan_u32(scan, 2),
		.inside_ps = scan_figure(scan, 3),
		.outside_ps = scan_figure(scan, 4),
		.inside_miss_ps = scan_figure(scan, 5),
		.outside_miss_ps = scan_figure(scan, 6),
		.spread_ps = scan_figure(scan, 7),
		.stretch_permille = scan_figure(scan, 8),
		.pace_permille = scan_figure(scan, 9),
	};

	if (!is_possible(&cost))
		scan_damage(scan, "cannot be");
	return cost;
}

int recording_reader_each_cost(struct recording_reader *reader,
			       int (*visit)(void *context, const struct recording_cost *row),
			       void *context, struct error *err)
{
	struct scan scan;
	int rc = scan_begin(&scan, reader, TABLE_COSTS, 1, err);

	while (scan_next(&scan, &rc)) {
		struct recording_cost row = cost_of(&scan);

		if (scan_check(&scan, &rc))
			rc = visit(context, &row);
	}
	return scan_end(&scan, rc);
}
