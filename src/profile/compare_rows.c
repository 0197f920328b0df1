/*
 * Matches the rows of two sides: by name and by file or module without folders, and lines by
 * their distance from the function's first line. Remaining rows are matched by name alone if
 * that is unique (the function was moved), and then by caller: if a caller has one new callee
 * and one that is gone, the callee was renamed.
 */
#include "profile/compare_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "profile/group.h"
#include "profile/profile.h"

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return !path ? "" : slash && slash[1] ? slash + 1 : path;
}

static void add_key(struct text *key, const struct profile *profile, enum group_by by,
		    const struct group *row)
{
	const struct module *module = profile_get_module(profile, row->module);
	const struct function *function = profile_get_function(profile, row->function);

	if (by == GROUP_BY_MODULE) {
		text_add(key, base_name(row->name));
		return;
	}
	text_add(key, row->name);
	if (by == GROUP_BY_PACKAGE)
		return;
	text_addf(key, "\n%s", module ? base_name(module->path) : base_name(row->file));
	if (by == GROUP_BY_LINE)
		text_addf(key, "\n%s\n%lld", base_name(row->file),
			  (long long)row->line - (function ? (long long)function->line : 0));
}

static struct matched *row_at(struct compare_rows *rows, struct intern *keys, const char *key)
{
	const uint32_t id = intern_string(keys, key);

	if (id > rows->count) {
		rows->rows = array_grow(rows->rows, rows->count, &rows->capacity,
					sizeof *rows->rows);
		rows->rows[rows->count++] = (struct matched){ 0 };
	}
	return &rows->rows[id - 1];
}

static double variance_of(uint64_t ns, const struct interval *interval)
{
	const double low = (double)ns - (double)interval->low_ns;
	const double high = (double)interval->high_ns - (double)ns;
	const double off = fmax(low, high) / 1.96;

	return interval->high_ns == 0 ? 0 : off * off;
}

static void add_run(struct compare_rows *rows, struct intern *keys,
		    const struct compare_terms *terms, int side, size_t run)
{
	const struct profile *profile = terms->profiles[side][run];
	struct groups *groups = &rows->groups[side][run];
	struct text key = { 0 };

	groups_make(profile, terms->by, NULL, groups);
	rows->wholes[side][run] = (double)groups->ns;
	for (size_t i = 0; i < groups->count; i++) {
		const struct group *group = &groups->rows[i];

		text_clear(&key);
		add_key(&key, profile, terms->by, group);
		struct side_row *row = &row_at(rows, keys, text_string(&key))->sides[side];

		if (!row->runs)
			row->runs = xzalloc(rows->runs[side] * sizeof *row->runs);
		row->group = row->group ? row->group : group;
		struct run_cost *cost = &row->runs[run];

		cost->self_ns += (double)group->cost.self_ns;
		cost->total_ns += (double)group->cost.total_ns;
		cost->samples += (double)group->cost.self_samples;
		cost->total_samples += (double)group->cost.total_samples;
		cost->calls += (double)group->cost.calls;
		cost->self_variance +=
			profile_is_trace(profile)
				? pow((double)group->cost.times.uncertainty_ns / 1.96, 2)
				: variance_of(group->cost.self_ns, &group->cost.intervals.self);
		cost->total_variance +=
			profile_is_trace(profile)
				? pow((double)group->cost.times.uncertainty_ns / 1.96, 2)
				: variance_of(group->cost.total_ns,
					      &group->cost.intervals.total);
	}
	text_done(&key);
}

enum { KNOWN_LEAST = 20 }; /* samples or calls, in all runs of a side */

#define MANY UINT64_MAX

/* Records the only remaining row of a side with this key: its number + 1, or MANY. */
static void note_left_over(struct table *found, struct intern *names, uint32_t side,
			   const char *name, size_t row)
{
	bool is_new;
	uint64_t *place = table_at(found, side, intern_string(names, name), &is_new);

	*place = is_new ? row + 1 : MANY;
}

static bool is_left_over(const struct matched *row, int side)
{
	return row->sides[side].group && !row->sides[!side].group;
}

/*
 * Whether the row has enough samples to be a rename: a row of few samples may be on one side
 * only by chance.
 */
static bool is_well_known(const struct compare_rows *rows, const struct matched *row, int side)
{
	double known = 0;

	for (size_t i = 0; i < rows->runs[side]; i++)
		known +=
			row->sides[side].runs[i].total_samples + row->sides[side].runs[i].calls;
	return known >= KNOWN_LEAST;
}

static bool is_function(const struct compare_terms *terms)
{
	return terms->by == GROUP_BY_FUNCTION;
}

static void join(struct compare_rows *rows, uint64_t before, uint64_t after)
{
	if (before == 0 || after == 0 || before == MANY || after == MANY)
		return;
	struct matched *into = &rows->rows[before - 1], *from = &rows->rows[after - 1];

	if (!is_left_over(into, 0) || !is_left_over(from, 1))
		return;
	into->sides[1] = from->sides[1];
	from->sides[1] = (struct side_row){ 0 };
}

/* keys[i]: the key of row i where one side lacks it, or NULL. */
static void match_by(struct compare_rows *rows, const char *const *keys)
{
	struct table found = { 0 };
	struct intern names = { 0 };

	for (size_t i = 0; i < rows->count; i++) {
		for (int side = 0; side < 2; side++)
			if (keys[i] && is_left_over(&rows->rows[i], side))
				note_left_over(&found, &names, (uint32_t)side, keys[i], i);
	}
	for (uint32_t name = 1; name <= names.count; name++) {
		uint64_t before = 0, after = 0;

		table_get(&found, 0, name, &before);
		table_get(&found, 1, name, &after);
		join(rows, before, after);
	}
	table_done(&found);
	intern_done(&names);
}

/* For each function, the name of the caller through which most of its time came. */
static const char **callers_of(const struct profile *profile)
{
	const size_t functions = profile_function_count(profile);
	const size_t stacks = profile_stack_count(profile);
	const char **names = xzalloc((functions + 1) * sizeof *names);
	uint64_t *most = xzalloc((functions + 1) * sizeof *most);
	uint64_t *ns = xzalloc((stacks + 1) * sizeof *ns);

	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);

		ns[weight->stack.n] += weight->ns;
	}
	for (uint32_t i = (uint32_t)stacks; i > 0; i--) {
		const struct stack *at = profile_get_stack(profile, (struct stack_id){ i });
		const struct stack *caller = profile_get_stack(profile, at->parent);
		const uint32_t id = profile_get_frame(profile, at->frame)->function.n;

		ns[at->parent.n] += ns[i];
		if (!caller || ns[i] <= most[id])
			continue;
		most[id] = ns[i];
		names[id] =
			profile_get_function(
				profile, profile_get_frame(profile, caller->frame)->function)
				->name;
	}
	free(most);
	free(ns);
	return names;
}

static void match_moved_and_renamed(struct compare_rows *rows,
				    const struct compare_terms *terms)
{
	const char **keys = xzalloc((rows->count + 1) * sizeof *keys);
	const char **callers[2];

	for (size_t i = 0; i < rows->count; i++) {
		const struct matched *row = &rows->rows[i];

		keys[i] =
			(row->sides[0].group ? row->sides[0].group : row->sides[1].group)->name;
	}
	match_by(rows, keys);
	for (int side = 0; side < 2; side++)
		callers[side] = callers_of(terms->profiles[side][0]);
	for (size_t i = 0; i < rows->count; i++) {
		keys[i] = NULL;
		for (int side = 0; side < 2; side++) {
			const struct group *group = rows->rows[i].sides[side].group;
			const struct groups *first = &rows->groups[side][0];

			/* Function ids are those of the first run. */
			if (is_left_over(&rows->rows[i], side) && group >= first->rows &&
			    group < first->rows + first->count &&
			    is_well_known(rows, &rows->rows[i], side))
				keys[i] = callers[side][group->function.n];
		}
	}
	match_by(rows, keys);
	free(callers[0]);
	free(callers[1]);
	free(keys);
}

static void drop_joined(struct compare_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].sides[0].group || rows->rows[i].sides[1].group)
			rows->rows[kept++] = rows->rows[i];
	rows->count = kept;
}

void compare_rows_make(const struct compare_terms *terms, struct compare_rows *out)
{
	struct intern keys = { 0 };

	*out = (struct compare_rows){ 0 };
	for (int side = 0; side < 2; side++) {
		out->runs[side] = terms->counts[side];
		out->groups[side] = xzalloc((out->runs[side] + 1) * sizeof(struct groups));
		out->wholes[side] = xzalloc((out->runs[side] + 1) * sizeof(double));
		for (size_t run = 0; run < out->runs[side]; run++)
			add_run(out, &keys, terms, side, run);
	}
	if (is_function(terms))
		match_moved_and_renamed(out, terms);
	drop_joined(out);
	intern_done(&keys);
}

void compare_rows_done(struct compare_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->rows[i].sides[0].runs);
		free(rows->rows[i].sides[1].runs);
	}
	for (int side = 0; side < 2; side++) {
		for (size_t run = 0; run < rows->runs[side]; run++)
			groups_done(&rows->groups[side][run]);
		free(rows->groups[side]);
		free(rows->wholes[side]);
	}
	free(rows->rows);
	*rows = (struct compare_rows){ 0 };
}
