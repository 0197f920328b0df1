#include "profile/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"

/* A line being collected, with its function and file. */
struct found_line {
	struct function_id function;
	const char *file;
	uint32_t line;
	struct cost cost, function_cost;
};

struct finder {
	const struct profile *profile;
	const bool *is_meant;
	struct found_line *lines;
	size_t count, capacity;
	struct table index; /* (file, function and line) to the line's number + 1 */
	uint32_t *row_of_frame;
};

/* The row of a frame's line; row 0 is for frames of other functions. */
static uint32_t row_of(struct finder *finder, const struct frame *frame)
{
	const struct function *function =
		profile_get_function(finder->profile, frame->function);
	const char *file = frame->file ? frame->file : function->file;
	bool is_new;

	if (!finder->is_meant[frame->function.n])
		return 0;
	/* Strings are interned in the profile: equal texts are equal pointers. */
	uint64_t *row = table_at(&finder->index, (uint64_t)(uintptr_t)file,
				 (uint64_t)frame->function.n << 32 | frame->line, &is_new);

	if (is_new) {
		finder->lines = array_grow(finder->lines, finder->count, &finder->capacity,
					   sizeof *finder->lines);
		finder->lines[finder->count++] = (struct found_line){
			.function = frame->function, .file = file, .line = frame->line
		};
		*row = finder->count;
	}
	return (uint32_t)*row;
}

static void find_lines(struct finder *finder, const struct filter *filter)
{
	struct totals totals;

	for (uint32_t i = 0; i < profile_frame_count(finder->profile); i++)
		finder->row_of_frame[i] = row_of(
			finder, profile_get_frame(finder->profile, (struct frame_id){ i + 1 }));
	totals_by_row(finder->profile, filter, finder->row_of_frame, finder->count + 1,
		      &totals);
	for (size_t i = 0; i < finder->count; i++)
		finder->lines[i].cost = totals.rows[i + 1];
	totals_done(&totals);
}

static void add_function_costs(struct finder *finder, const struct filter *filter)
{
	struct totals totals;

	totals_by_function(finder->profile, filter, &totals);
	for (size_t i = 0; i < finder->count; i++)
		finder->lines[i].function_cost = totals.rows[finder->lines[i].function.n - 1];
	totals_done(&totals);
}

/* The cost of all selected functions as one row. */
static struct cost whole_of(struct finder *finder, const struct filter *filter)
{
	struct totals totals;

	for (uint32_t i = 0; i < profile_frame_count(finder->profile); i++)
		finder->row_of_frame[i] = finder->row_of_frame[i] > 0;
	totals_by_row(finder->profile, filter, finder->row_of_frame, 2, &totals);
	struct cost whole = totals.rows[1];

	totals_done(&totals);
	return whole;
}

static int compare(const void *a, const void *b)
{
	const struct found_line *x = a, *y = b;

	if (x->function_cost.total_ns != y->function_cost.total_ns)
		return x->function_cost.total_ns > y->function_cost.total_ns ? -1 : 1;
	if (x->function.n != y->function.n)
		return x->function.n < y->function.n ? -1 : 1;
	int order = strcmp(x->file ? x->file : "", y->file ? y->file : "");

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static bool begins_part(const struct lines *out, const struct found_line *line)
{
	const struct lines_part *last =
		out->part_count ? &out->parts[out->part_count - 1] : NULL;

	return !last || last->function.n != line->function.n || last->file != line->file;
}

static void add_line(struct lines *out, const struct found_line *line)
{
	if (line->cost.total_ns == 0 && line->cost.total_samples == 0)
		return;
	if (begins_part(out, line))
		out->parts[out->part_count++] =
			(struct lines_part){ .function = line->function,
					     .file = line->file,
					     .cost = line->function_cost,
					     .rows = &out->rows[out->count] };
	out->rows[out->count++] = (struct line_cost){ .line = line->line, .cost = line->cost };
	out->parts[out->part_count - 1].count++;
}

void lines_make(const struct profile *profile, const struct filter *filter,
		const bool *is_meant, struct lines *out)
{
	struct finder finder = { .profile = profile, .is_meant = is_meant };

	finder.row_of_frame = xreallocarray(NULL, profile_frame_count(profile) + 1,
					    sizeof *finder.row_of_frame);
	find_lines(&finder, filter);
	add_function_costs(&finder, filter);
	if (finder.count)
		qsort(finder.lines, finder.count, sizeof *finder.lines, compare);
	*out = (struct lines){
		.parts = xzalloc((finder.count + 1) * sizeof *out->parts),
		.rows = xzalloc((finder.count + 1) * sizeof *out->rows),
		.cost = whole_of(&finder, filter),
	};
	for (size_t i = 0; i < finder.count; i++)
		add_line(out, &finder.lines[i]);
	table_done(&finder.index);
	free(finder.lines);
	free(finder.row_of_frame);
}

void lines_done(struct lines *lines)
{
	free(lines->parts);
	free(lines->rows);
	*lines = (struct lines){ 0 };
}
