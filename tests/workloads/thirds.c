/*
 * thirds - f, g and h compute for equally long.
 *
 * Each turn gives the function that is behind another go, so that the thirds stay
 * equal on a machine that changes its pace.
 */
#include "truth.h"

static volatile uint64_t sink;

KEEP static uint64_t f(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t g(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

KEEP static uint64_t h(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 2862933555777941757u + 3037000493u;
	return x;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t (*work)(uint64_t);
	} parts[3] = { { "f", f }, { "g", g }, { "h", h } };
	uint64_t budget = truth_budget_ns(argc, argv, 800), spent[3] = { 0 };
	uint64_t before = truth_thread_cpu_ns();

	for (uint64_t turn = 0; before < budget; turn++) {
		int next = 0;

		for (int i = 1; i < 3; i++)
			if (spent[i] < spent[next])
				next = i;
		sink = parts[next].work(truth_vary(turn, 300000, 200000));
		uint64_t after = truth_thread_cpu_ns();
		spent[next] += after - before;
		before = after;
	}
	for (int i = 0; i < 3; i++)
		truth_add(TRUTH_SELF, parts[i].name, spent[i]);
	truth_print();
	return 0;
}
