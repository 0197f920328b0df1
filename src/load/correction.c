#include "load/correction.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"

#define PS_PER_NS 1000
#define PER_MILLE 1000
#define NO_ROW    SIZE_MAX
/*
 * Calibration calls small functions in turn, whose code and nodes are in the caches.  Between
 * other work a call costs more: by up to this part of its cost, in measured programs
 * (docs/decisions/0022).  In Ruby, whose path to a hook is longer, more is uncertain if callees
 * alternate; no more than elsewhere if the same one is called repeatedly, as in calibration.
 */
#define UNCERTAINTY           0.25
#define UNCERTAINTY_RUBY_MISS 0.6
/* Ruby's among the kinds of recording_calls. */
#define RUBY_FIRST 5
#define RUBY_LAST  7
/*
 * For a callee that is new on a stack a name is sent and a node is made.  That is in no call's
 * time, but it evicts the program's caches, which cost 0.3 to 1 us each in ten programs
 * (docs/decisions/0022).  In which row that time is was not measured: at most a part of a row
 * is taken out for it.
 */
#define NAMING_NS         500
#define NAMING_DOUBT      1.4 /* times what is taken out */
#define NAMING_MOST       4
#define NAMING_DOUBT_MOST 2
/*
 * Half of what is taken out for slower bytecode is uncertain: functions differ in how much of
 * their time is bytecode.
 */
#define STRETCH_DOUBT 2

/* The costs of a row; doubles, since a count times a cost has more digits than 64 bits. */
struct share {
	double own_ps;    /* in its own time, by itself and by events */
	double caller_ps; /* in its caller's */
	double own_uncertainty_ps, caller_uncertainty_ps;
	double callees_ps; /* by its callees' calls, in its time */
	double naming_ns;  /* for having been new */
	double stretch;
	/* With all its callees: */
	double raw_total_ns, total_ns;
};

struct work {
	struct call_row *rows;
	size_t count;
	const struct recording_cost *costs;
	struct table cost_of; /* a process and a kind, to index + 1 */
	struct share *shares; /* by row */
	size_t *parents;      /* by row; NO_ROW */
	size_t *inwards;      /* rows, a caller before its callees */
	struct correction *sum;
	/* The cost of all calls whose slowdown is known, and that cost times the slowdown. */
	double known_ps, slowed_ps;
};

static const struct recording_cost *cost_of(const struct work *work, uint32_t process,
					    uint32_t kind)
{
	uint64_t index = 0;

	return table_get(&work->cost_of, process, kind, &index) && index > 0
		       ? &work->costs[index - 1]
		       : NULL;
}

static double magnitude(double value)
{
	return value < 0 ? -value : value;
}

static void add_uncounted(const struct work *work, const struct call_row *row,
			  struct share *share)
{
	for (uint32_t i = 0; i < RECORDING_UNCOUNTED_KINDS; i++) {
		const struct recording_cost *cost =
			cost_of(work, row->process, RECORDING_UNCOUNTED + i);
		const double events = (double)row->calls.uncounted[i];

		if (cost == NULL)
			continue;
		share->own_ps += events * (double)cost->inside_ps;
		share->own_uncertainty_ps +=
			events * ((double)cost->spread_ps +
				  magnitude((double)cost->inside_ps) * UNCERTAINTY);
	}
}

/*
 * The uncertainty of the cost of calls of the caller's last callee (hits) and of others
 * (misses).
 */
static double uncertainty_of(uint32_t kind, double hits_ps, double misses_ps)
{
	const bool is_ruby = kind >= RUBY_FIRST && kind <= RUBY_LAST;

	return magnitude(hits_ps) * UNCERTAINTY +
	       magnitude(misses_ps) * (is_ruby ? UNCERTAINTY_RUBY_MISS : UNCERTAINTY);
}

/* Adds to the mean slowdown of the processor, weighted by the cost of calls. */
static void add_pace(struct work *work, const struct recording_cost *cost, double ps)
{
	if (cost->pace_permille == RECORDING_UNKNOWN)
		return;
	work->known_ps += magnitude(ps);
	work->slowed_ps += magnitude(ps) * (double)cost->pace_permille / PER_MILLE;
}

/* Adds what the calls of a row cost in its own time and in its caller's. */
static void add_calls(struct work *work, const struct call_row *row, struct share *share)
{
	const struct recording_cost *cost = cost_of(work, row->process, row->calls.kind);

	if (cost == NULL) {
		work->sum->unknown_calls += row->calls.calls;
		return;
	}
	const double calls = (double)row->calls.calls;
	const double misses =
		row->calls.misses < row->calls.calls ? (double)row->calls.misses : calls;
	const double hits = calls - misses;
	const double inside = hits * (double)cost->inside_ps;
	const double outside = hits * (double)cost->outside_ps;
	const double inside_miss = misses * (double)cost->inside_miss_ps;
	const double outside_miss = misses * (double)cost->outside_miss_ps;
	const double spread = calls * (double)cost->spread_ps;
	const uint32_t kind = row->calls.kind;

	share->own_ps += inside + inside_miss;
	share->caller_ps += outside + outside_miss;
	share->own_uncertainty_ps += spread / 2 + uncertainty_of(kind, inside, inside_miss);
	share->caller_uncertainty_ps +=
		spread / 2 + uncertainty_of(kind, outside, outside_miss);
	share->stretch = (double)cost->stretch_permille / PER_MILLE;
	add_pace(work, cost, share->own_ps + share->caller_ps);
}

/* Finds each row's caller, a row of the same thread. */
static void find_parents(struct work *work)
{
	CLEANUP(table_done) struct table row_of = { 0 };

	for (size_t i = 0; i < work->count; i++) {
		const struct recording_calls *calls = &work->rows[i].calls;
		bool is_new;
		uint64_t *place = table_at(&row_of, calls->thread, calls->stack, &is_new);

		if (is_new)
			*place = i + 1;
	}
	for (size_t i = 0; i < work->count; i++) {
		const struct call_row *row = &work->rows[i];
		uint64_t found = 0;

		table_get(&row_of, row->calls.thread, row->parent_stack, &found);
		work->parents[i] =
			row->calls.stack == 0 || found == 0 ? NO_ROW : (size_t)found - 1;
	}
}

static int compare_stacks(const void *a, const void *b, void *context)
{
	const struct call_row *rows = context;
	const uint32_t x = rows[*(const size_t *)a].calls.stack;
	const uint32_t y = rows[*(const size_t *)b].calls.stack;

	return x == y ? 0 : x < y ? -1 : 1;
}

static void find_order(struct work *work)
{
	for (size_t i = 0; i < work->count; i++)
		work->inwards[i] = i;
	if (work->count > 0)
		qsort_r(work->inwards, work->count, sizeof *work->inwards, compare_stacks,
			work->rows);
}

/*
 * Each row was named once.  A thread that left out less time than that takes has named less, or
 * it is not known: its rows share what it left out.
 */
static void find_naming(struct work *work)
{
	enum { LEFT_OUT, ROWS };
	CLEANUP(table_done) struct table of_threads = { 0 };

	for (size_t i = 0; i < work->count; i++) {
		const struct recording_calls *calls = &work->rows[i].calls;

		*table_at(&of_threads, LEFT_OUT, calls->thread, NULL) +=
			calls->left_out_ns > 0 ? (uint64_t)calls->left_out_ns : 0;
		*table_at(&of_threads, ROWS, calls->thread, NULL) += calls->calls > 0;
	}
	for (size_t i = 0; i < work->count; i++) {
		const struct recording_calls *calls = &work->rows[i].calls;
		uint64_t left_out = 0, rows = 0;

		table_get(&of_threads, LEFT_OUT, calls->thread, &left_out);
		table_get(&of_threads, ROWS, calls->thread, &rows);
		if (calls->stack == 0 || calls->calls == 0)
			continue;
		const double each = (double)left_out / (double)rows;

		work->shares[i].naming_ns = each < NAMING_NS ? each : NAMING_NS;
	}
}

static void share_out(struct work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		work->shares[i].stretch = 1;
		add_calls(work, &work->rows[i], &work->shares[i]);
		add_uncounted(work, &work->rows[i], &work->shares[i]);
	}
	for (size_t i = 0; i < work->count; i++) {
		const struct share *share = &work->shares[i];

		if (work->parents[i] == NO_ROW)
			continue;
		struct share *caller = &work->shares[work->parents[i]];

		caller->callees_ps += share->caller_ps;
		caller->own_uncertainty_ps += share->caller_uncertainty_ps;
	}
}

static double at_least_zero(double value)
{
	return value > 0 ? value : 0;
}

static double at_most(double value, double most)
{
	return value < most ? value : most;
}

static uint64_t rounded(double ns)
{
	return ns < 0 ? 0 : ns < (double)(1ULL << 62) ? (uint64_t)(ns + 0.5) : 1ULL << 62;
}

/*
 * Computes a row's corrected self time, and its uncertainty.  A row with less time than its cost
 * shows that this cost is too high, by so much at least; it had no more time than was measured.
 */
static void correct_self(struct work *work, size_t i)
{
	const struct share *share = &work->shares[i];
	struct call_row *row = &work->rows[i];
	const double raw = (double)row->calls.self_ns;
	const double cost = (share->own_ps + share->callees_ps) / PS_PER_NS;
	const double with_naming = at_least_zero(raw - cost);
	const double naming = at_most(share->naming_ns, with_naming / NAMING_MOST);
	const double left = with_naming - naming;
	const double ns = left / share->stretch;
	const double of_cost = share->own_uncertainty_ps / PS_PER_NS;
	const double beyond = at_most(cost - raw, raw);
	const double uncertainty =
		(beyond > of_cost ? beyond : of_cost) +
		at_most(share->naming_ns * NAMING_DOUBT, with_naming / NAMING_DOUBT_MOST) +
		(left - ns) / STRETCH_DOUBT;

	row->ns = (int64_t)rounded(ns);
	row->uncertainty_ns = (int64_t)rounded(uncertainty);
	work->sum->clipped_ns += rounded(cost - raw);
}

static void correct_selves(struct work *work)
{
	double raw = 0, kept = 0, uncertainty = 0;

	for (size_t i = 0; i < work->count; i++) {
		struct call_row *row = &work->rows[i];

		correct_self(work, i);
		/* As it is shown: no call may seem to last longer than all of them. */
		work->shares[i].total_ns = (double)row->ns;
		work->shares[i].raw_total_ns = (double)row->calls.self_ns;
		raw += (double)row->calls.self_ns;
		kept += (double)row->ns;
		uncertainty += (double)row->uncertainty_ns;
		work->sum->left_out_ns += (uint64_t)row->calls.left_out_ns;
	}
	work->sum->raw_ns = rounded(raw);
	work->sum->removed_ns = rounded(raw - kept);
	work->sum->uncertainty_ns = rounded(uncertainty);
	work->sum->slowdown = work->known_ps > 0 ? work->slowed_ps / work->known_ps : 0;
}

static void sum_totals(struct work *work)
{
	for (size_t k = work->count; k-- > 0;) {
		const size_t i = work->inwards[k];
		const size_t parent = work->parents[i];

		if (parent == NO_ROW || parent == i)
			continue;
		work->shares[parent].total_ns += work->shares[i].total_ns;
		work->shares[parent].raw_total_ns += work->shares[i].raw_total_ns;
	}
}

/*
 * Corrects the time of one call, whose callees were not counted separately: its own cost is the
 * average; the rest is reduced in the same proportion as that of all calls together.
 */
static int64_t correct_call(const struct work *work, size_t i, int64_t raw_ns)
{
	const struct call_row *row = &work->rows[i];
	const struct share *share = &work->shares[i];
	const double calls = (double)row->calls.calls;

	if (raw_ns == RECORDING_UNKNOWN || calls < 1)
		return raw_ns;
	const double inside = share->own_ps / calls / PS_PER_NS;
	const double rest = share->raw_total_ns - inside * calls;
	const double kept = rest > 0 ? share->total_ns / rest : 0;

	const double ns = ((double)raw_ns - inside) * at_most(kept, 1);

	return (int64_t)rounded(at_most(ns, share->total_ns));
}

static void correct_extremes(struct work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		struct call_row *row = &work->rows[i];

		row->shortest_ns = correct_call(work, i, row->calls.shortest_ns);
		row->longest_ns = correct_call(work, i, row->calls.longest_ns);
	}
}

static void keep_raw(struct work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		struct call_row *row = &work->rows[i];

		row->ns = row->calls.self_ns;
		row->uncertainty_ns = 0;
		row->shortest_ns = row->calls.shortest_ns;
		row->longest_ns = row->calls.longest_ns;
	}
}

static void index_costs(struct work *work, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_new;

		*table_at(&work->cost_of, work->costs[i].process, work->costs[i].kind,
			  &is_new) = i + 1;
	}
}

void correction_make(struct call_row *rows, size_t count, const struct recording_cost *costs,
		     size_t cost_count, bool keeps_raw, struct correction *out)
{
	CLEANUP(freep) struct share *shares = xzalloc((count + 1) * sizeof *shares);
	CLEANUP(freep) size_t *parents = xreallocarray(NULL, count + 1, sizeof *parents);
	CLEANUP(freep) size_t *inwards = xreallocarray(NULL, count + 1, sizeof *inwards);
	struct work work = { .rows = rows,
			     .count = count,
			     .costs = costs,
			     .shares = shares,
			     .parents = parents,
			     .inwards = inwards,
			     .sum = out };

	*out = (struct correction){ 0 };
	index_costs(&work, cost_count);
	find_parents(&work);
	find_order(&work);
	share_out(&work);
	find_naming(&work);
	correct_selves(&work);
	sum_totals(&work);
	correct_extremes(&work);
	if (keeps_raw)
		keep_raw(&work);
	table_done(&work.cost_of);
}
