#include "report/number.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "base/text.h"

void number_add_count(struct text *text, uint64_t count)
{
	uint64_t power = 1;

	while (count / power >= 1000)
		power *= 1000;
	text_addf(text, "%" PRIu64, count / power);
	while (power > 1) {
		count %= power;
		power /= 1000;
		text_addf(text, ",%03" PRIu64, count / power);
	}
}

const struct time_unit *time_unit_for(uint64_t ns)
{
	static const struct {
		uint64_t from;
		struct time_unit unit;
	} units[] = {
		{ 1000000000000, { "s", 1e9, 1 } }, { 100000000000, { "s", 1e9, 2 } },
		{ 1000000000, { "s", 1e9, 3 } },    { 100000000, { "ms", 1e6, 1 } },
		{ 1000000, { "ms", 1e6, 2 } },      { 1000, { "µs", 1e3, 2 } },
	};
	static const struct time_unit nanoseconds = { "ns", 1, 0 };

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (ns >= units[i].from)
			return &units[i].unit;
	}
	return &nanoseconds;
}

void number_add_time(struct text *text, const struct time_unit *unit, uint64_t ns)
{
	number_add_signed_time(text, unit, (double)ns);
}

void number_add_signed_time(struct text *text, const struct time_unit *unit, double ns)
{
	static const double halves[] = { 0.5, 0.05, 0.005, 0.0005 };
	double value = ns / unit->ns;

	/* A value that rounds to 0 has no sign. */
	if (fabs(value) < halves[unit->decimals])
		value = 0;
	text_addf(text, "%.*f %s", unit->decimals, value, unit->name);
}

void number_add_any_time(struct text *text, uint64_t ns)
{
	number_add_time(text, time_unit_for(ns), ns);
}

double number_percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}
