#include "symbol_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "frame_ranges.h"

/* Symbols nest two or three deep; deeper nesting is meant to waste time. */
#define BACKWARD_STEPS_MAX 256

void symbol_table_add(struct symbol_table *table, const struct symbol *symbol)
{
	struct symbol_list *list =
		symbol->end > symbol->start ? &table->sized : &table->unsized;

	list->symbols = array_grow(list->symbols, list->count, &list->capacity, sizeof *symbol);
	list->symbols[list->count++] = *symbol;
}

static size_t leading_underscores(const char *name)
{
	return strspn(name, "_");
}

/* By address; among equal addresses the better name comes later. */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left;
	const struct symbol *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->is_function != b->is_function)
		return a->is_function ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	size_t a_underscores = leading_underscores(a->name);
	size_t b_underscores = leading_underscores(b->name);
	if (a_underscores != b_underscores)
		return a_underscores > b_underscores ? -1 : 1;
	size_t a_len = strlen(a->name);
	size_t b_len = strlen(b->name);
	if (a_len != b_len) /* "free", not "cfree" */
		return a_len > b_len ? -1 : 1;
	return -strcmp(a->name, b->name);
}

static void sort_by_address(struct symbol_list *list)
{
	struct ordered *order = xreallocarray(NULL, list->count, sizeof *order);
	struct symbol *sorted = xreallocarray(NULL, list->count, sizeof *sorted);

	for (size_t i = 0; i < list->count; i++)
		order[i] = (struct ordered){ list->symbols[i].start, i };
	order_by_key(order, list->count);
	for (size_t i = 0; i < list->count; i++)
		sorted[i] = list->symbols[order[i].index];
	free(order);
	free(list->symbols);
	list->symbols = sorted;
	list->capacity = list->count;
}

static void sort_list(struct symbol_list *list)
{
	if (list->count == 0)
		return;
	sort_by_address(list);
	for (size_t i = 0, end; i < list->count; i = end) {
		for (end = i + 1; end < list->count; end++) {
			if (list->symbols[end].start != list->symbols[i].start)
				break;
		}
		if (end - i > 1)
			qsort(&list->symbols[i], end - i, sizeof *list->symbols,
			      compare_symbols);
	}
	list->highest_end = xreallocarray(NULL, list->count, sizeof *list->highest_end);
}

static void note_highest_ends(struct symbol_list *list)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (list->symbols[i].end > highest)
			highest = list->symbols[i].end;
		list->highest_end[i] = highest;
	}
}

/* The number of symbols that start at or before the address. */
static size_t count_up_to(const struct symbol_list *list, uint64_t address)
{
	size_t low = 0;
	size_t high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t next_start(const struct symbol_list *list, uint64_t address, uint64_t limit)
{
	size_t next = count_up_to(list, address);

	if (next < list->count && list->symbols[next].start < limit)
		return list->symbols[next].start;
	return limit;
}

static uint64_t end_of_unsized(const struct symbol_table *table, const struct symbol *symbol,
			       const struct frame_ranges *ranges)
{
	uint64_t end = symbol->limit;
	struct frame_range range;

	if (frame_ranges_find(ranges, symbol->start, &range))
		end = range.end < end ? range.end : end;
	else if (table->is_whole)
		end = frame_ranges_next_start(ranges, symbol->start, end);
	else
		return symbol->start + 1;
	end = next_start(&table->sized, symbol->start, end);
	return next_start(&table->unsized, symbol->start, end);
}

void symbol_table_finish(struct symbol_table *table, const struct frame_ranges *ranges)
{
	sort_list(&table->sized);
	sort_list(&table->unsized);
	for (size_t i = 0; i < table->unsized.count; i++)
		table->unsized.symbols[i].end =
			end_of_unsized(table, &table->unsized.symbols[i], ranges);
	note_highest_ends(&table->sized);
	note_highest_ends(&table->unsized);
}

static const struct symbol *find_in(const struct symbol_list *list, uint64_t address)
{
	size_t i = count_up_to(list, address);

	for (unsigned step = 0; i > 0 && step < BACKWARD_STEPS_MAX; step++) {
		i--;
		if (list->highest_end[i] <= address)
			return NULL;
		if (list->symbols[i].end > address)
			return &list->symbols[i];
	}
	return NULL;
}

const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = find_in(&table->sized, address);

	return symbol ? symbol : find_in(&table->unsized, address);
}

static void narrow(const struct symbol_list *list, uint64_t address, uint64_t *low,
		   uint64_t *high)
{
	size_t i = count_up_to(list, address);

	if (i > 0 && list->highest_end[i - 1] > *low && list->highest_end[i - 1] <= address)
		*low = list->highest_end[i - 1];
	*high = next_start(list, address, *high);
}

void symbol_table_narrow(const struct symbol_table *table, uint64_t address, uint64_t *low,
			 uint64_t *high)
{
	narrow(&table->sized, address, low, high);
	narrow(&table->unsized, address, low, high);
}

static void list_done(struct symbol_list *list)
{
	free(list->symbols);
	free(list->highest_end);
}

void symbol_table_done(struct symbol_table *table)
{
	list_done(&table->sized);
	list_done(&table->unsized);
}
