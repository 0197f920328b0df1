/* number - formats counts, times and shares for people. */
#pragma once
#include <stdint.h>

struct text;

/* Adds 12,034. */
void number_add_count(struct text *text, uint64_t count);

/* A unit and its decimals: the times of a table share one, so that their digits align. */
struct time_unit {
	const char *name;
	double ns;
	int decimals;
};
/* A suitable unit for a time of this size. */
const struct time_unit *time_unit_for(uint64_t ns);
/* Adds 12.034 s. */
void number_add_time(struct text *text, const struct time_unit *unit, uint64_t ns);
void number_add_signed_time(struct text *text, const struct time_unit *unit, double ns);
/* Likewise in the unit that suits it. */
void number_add_any_time(struct text *text, uint64_t ns);

/* 0 if whole is 0. */
double number_percent(uint64_t part, uint64_t whole);
