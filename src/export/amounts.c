#include "export/amounts.h"

#include <stddef.h>

#include "base/text.h"

void amounts_add_time(struct text *out, uint64_t ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "µs", 1e3 }, { "ns", 1 } };
	size_t unit = 0;

	while (unit < 3 && (double)ns < units[unit].ns)
		unit++;
	const double amount = (double)ns / units[unit].ns;
	const int decimals = unit == 3 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;

	text_addf(out, "%.*f %s", decimals, amount, units[unit].name);
}

void amounts_add_share(struct text *out, uint64_t part, uint64_t whole)
{
	text_addf(out, "%.1f %%", whole ? 100.0 * (double)part / (double)whole : 0.0);
}
