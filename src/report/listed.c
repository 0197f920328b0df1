#include "report/listed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/lines.h"
#include "profile/profile.h"
#include "report/source.h"

enum {
	CONTEXT = 2, /* lines shown before and after one with time */
	GAP = 2,     /* a gap of so few lines is shown rather than skipped */
};

/* The selection being made; is_shown is by line, from 1. */
struct choice {
	const struct lines_part *part;
	const struct function *function;
	const struct source *source;
	bool *is_shown;
	uint32_t first, last; /* of the function, as far as known */
};

static void add_row(struct listed *listed, struct listed_row row)
{
	listed->rows = array_grow(listed->rows, listed->count, &listed->capacity,
				  sizeof *listed->rows);
	listed->rows[listed->count++] = row;
}

static int compare_totals(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x == y ? 0 : x > y ? -1 : 1;
}

/* The least total that a line needs to be shown. */
static uint64_t least_total(const struct lines_part *part, struct listed_limits limits)
{
	CLEANUP(freep) uint64_t *totals = xreallocarray(NULL, part->count + 1, sizeof *totals);
	uint64_t least = limits.least_ns;

	if (limits.max_lines == 0 || limits.max_lines >= part->count)
		return least;
	for (size_t i = 0; i < part->count; i++)
		totals[i] = part->rows[i].cost.total_ns;
	qsort(totals, part->count, sizeof *totals, compare_totals);
	return totals[limits.max_lines - 1] > least ? totals[limits.max_lines - 1] : least;
}

static size_t indent_of(const char *line)
{
	size_t columns = 0;

	for (; *line == ' ' || *line == '\t'; line++)
		columns = *line == '\t' ? columns / 8 * 8 + 8 : columns + 1;
	return columns;
}

static bool is_blank(const char *line)
{
	return line[strspn(line, " \t")] == '\0';
}

/*
 * Whether the function begins with a header line: not so Python's "<module>" and
 * "f.<locals>.<lambda>", Ruby's "<main>".
 */
static bool has_head(const struct function *function)
{
	size_t len = strlen(function->name);

	return len > 0 && function->name[len - 1] != '>';
}

/*
 * Whether a line of Ruby, indented like the head of its method or block, still belongs to it.
 */
static bool is_rubys_part(const char *line)
{
	static const char *const words[] = { "end", "}", "rescue", "ensure", "else" };

	line += strspn(line, " \t");
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t len = strlen(words[i]);

		if (strncmp(line, words[i], len) == 0 && !isalnum((unsigned char)line[len]) &&
		    line[len] != '_')
			return true;
	}
	return false;
}

/* Whether the line, which follows the last with time, may belong to the function. */
static bool may_follow(const struct choice *choice, uint32_t line)
{
	const enum language language = choice->function->language;
	const char *text = source_line(choice->source, line);
	const char *before = source_line(choice->source, line - 1);
	const char *head = source_line(choice->source, choice->function->line);

	if (!text)
		return false;
	if (language == LANGUAGE_NATIVE)
		return !before || *before != '}';
	if (!head || !has_head(choice->function) || is_blank(text) ||
	    indent_of(text) > indent_of(head))
		return true;
	return language == LANGUAGE_RUBY && indent_of(text) == indent_of(head) &&
	       is_rubys_part(text);
}

/* Finds the limits of the context. */
static void find_ends(struct choice *choice)
{
	const struct lines_part *part = choice->part;
	uint32_t line = part->rows[part->count - 1].line;
	/* The first row may be time of unknown line: skip it. */
	const struct line_cost *first = &part->rows[part->rows[0].line == 0];
	bool is_there = choice->function->line > 0 && part->file == choice->function->file;

	choice->first = 1;
	if (is_there && choice->function->line <= first->line)
		choice->first = choice->function->line;
	choice->last = line;
	for (uint32_t i = 1; i <= CONTEXT && may_follow(choice, line + i); i++)
		if (!is_blank(source_line(choice->source, line + i)))
			choice->last = line + i;
}

static void show_around(struct choice *choice, uint32_t line)
{
	uint32_t from = line > choice->first + CONTEXT ? line - CONTEXT : choice->first;
	uint32_t to = line + CONTEXT < choice->last ? line + CONTEXT : choice->last;

	for (uint32_t i = from; i <= to; i++)
		choice->is_shown[i] = true;
}

static void fill_gaps(struct choice *choice)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i <= choice->last; i++) {
		if (!choice->is_shown[i])
			continue;
		for (uint32_t k = last + 1; last > 0 && i - last <= GAP + 1 && k < i; k++)
			choice->is_shown[k] = true;
		last = i;
	}
}

static void add_shown(const struct choice *choice, struct listed *listed)
{
	const struct lines_part *part = choice->part;
	uint32_t before = 0;
	size_t next = 0;

	while (next < part->count && part->rows[next].line == 0)
		next++;
	for (uint32_t line = 1; line <= choice->last; line++) {
		const bool is_timed = next < part->count && part->rows[next].line == line;
		const struct line_cost *cost = is_timed ? &part->rows[next] : NULL;

		next += is_timed;
		if (!choice->is_shown[line])
			continue;
		if (before && line > before + 1)
			add_row(listed, (struct listed_row){ .skipped = line - before - 1 });
		add_row(listed, (struct listed_row){ .line = line, .cost = cost });
		before = line;
	}
}

static void add_from_source(struct choice *choice, uint64_t least_ns, struct listed *listed)
{
	find_ends(choice);
	choice->is_shown = xzalloc((size_t)choice->last + 1);
	for (size_t i = 0; i < choice->part->count; i++) {
		const struct line_cost *row = &choice->part->rows[i];

		if (row->line > 0 && row->cost.total_ns >= least_ns)
			show_around(choice, row->line);
	}
	if (choice->first > 1 || choice->function->line == 1)
		choice->is_shown[choice->first] = true;
	fill_gaps(choice);
	add_shown(choice, listed);
	free(choice->is_shown);
}

void listed_make(const struct lines_part *part, const struct function *function,
		 const struct source *source, struct listed_limits limits,
		 struct listed *out_listed)
{
	struct choice choice = { .part = part, .function = function, .source = source };
	struct listed listed = { 0 };
	uint64_t least_ns = least_total(part, limits);
	bool has_source = source && part->rows[part->count - 1].line > 0;

	for (size_t i = 0; i < part->count; i++) {
		const struct line_cost *row = &part->rows[i];

		if (row->cost.total_ns < least_ns)
			listed.hidden++;
		else if (!has_source || row->line == 0)
			add_row(&listed, (struct listed_row){ .line = row->line, .cost = row });
	}
	if (has_source)
		add_from_source(&choice, least_ns, &listed);
	*out_listed = listed;
}

void listed_done(struct listed *listed)
{
	free(listed->rows);
	*listed = (struct listed){ 0 };
}
