/*
 * number - counts, times and shares as people read them.
 */
#pragma once
#include <stdint.h>

struct text;

/* 12,034 */
void number_add_count(struct text *text, uint64_t count);

/* A unit and its decimals: times of one table share one, so that their digits align. */
struct time_unit {
	const char *name;
	double ns;
	int decimals;
};
/* The unit in which a time of this size reads well. */
const struct time_unit *time_unit_for(uint64_t ns);
/* 12.034 s */
void number_add_time(struct text *text, const struct time_unit *unit, uint64_t ns);
void number_add_signed_time(struct text *text, const struct time_unit *unit, double ns);
/* The same in the unit that suits it. */
void number_add_any_time(struct text *text, uint64_t ns);

/* 0 when there is no whole. */
double number_percent(uint64_t part, uint64_t whole);
