/*
 * deep - two functions take turns on top of 10,000 frames, for equally long: a stack
 * that is too deep to keep still has the right leaf.
 */
#include "truth.h"

static volatile uint64_t sink;
static uint64_t spent[2];

KEEP static uint64_t left_leaf(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t right_leaf(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

KEEP static void take_turns(uint64_t budget_ns)
{
	uint64_t before = truth_thread_cpu_ns();

	for (uint64_t turn = 0; before < budget_ns; turn++) {
		int next = spent[1] < spent[0];

		sink = (next ? right_leaf : left_leaf)(truth_vary(turn, 200000, 300000));
		uint64_t after = truth_thread_cpu_ns();
		spent[next] += after - before;
		before = after;
	}
}

KEEP static uint64_t sink_deeper(unsigned depth, uint64_t budget_ns)
{
	if (depth == 0) {
		take_turns(budget_ns);
		return sink;
	}
	return sink_deeper(depth - 1, budget_ns) * 3 + depth;
}

int main(int argc, char **argv)
{
	sink = sink_deeper(10000, truth_budget_ns(argc, argv, 800));
	truth_add(TRUTH_SELF, "left_leaf", spent[0]);
	truth_add(TRUTH_SELF, "right_leaf", spent[1]);
	truth_print();
	return 0;
}
