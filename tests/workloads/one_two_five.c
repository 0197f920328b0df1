/* one_two_five - three functions compute for times in the ratio 1 : 2 : 5. */
#include "truth.h"

static volatile uint64_t sink;

KEEP static uint64_t one(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t two(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

KEEP static uint64_t five(uint64_t n)
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
		uint64_t parts;
	} works[3] = { { "one", one, 1 }, { "two", two, 2 }, { "five", five, 5 } };
	uint64_t budget = truth_budget_ns(argc, argv, 800);
	uint64_t before = truth_thread_cpu_ns();

	for (uint64_t turn = 0; before < budget; turn++) {
		for (int i = 0; i < 3; i++) {
			sink = works[i].work(truth_vary(turn, 70000, 90000) * works[i].parts);
			uint64_t after = truth_thread_cpu_ns();
			truth_add(TRUTH_SELF, works[i].name, after - before);
			before = after;
		}
	}
	truth_print();
	return 0;
}
