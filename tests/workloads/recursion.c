/*
 * recursion - descend() calls itself eight deep, computes at every level, and calls
 * bottom() at the last: its total counts each moment once, whatever the depth.
 */
#include "truth.h"

#define DEPTH 8

static volatile uint64_t sink;
static uint64_t self_ns, bottom_ns;

KEEP static uint64_t bottom(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t descend(unsigned depth, uint64_t n)
{
	uint64_t before = truth_thread_cpu_ns(), x = n, after;

	for (uint64_t i = 0; i < n; i++)
		x = x * 2862933555777941757u + 3037000493u;
	after = truth_thread_cpu_ns();
	self_ns += after - before;
	if (depth > 1)
		return x + descend(depth - 1, n) * 3;
	x += bottom(5 * n);
	bottom_ns += truth_thread_cpu_ns() - after;
	return x;
}

int main(int argc, char **argv)
{
	/* With what it asks the clock for, seventeen times a turn. */
	uint64_t budget = truth_budget_ns(argc, argv, 800), total_ns = 0;

	for (uint64_t turn = 0, now = truth_thread_cpu_ns(); now < budget; turn++) {
		const uint64_t before = now;

		sink = descend(DEPTH, truth_vary(turn, 70000, 90000));
		now = truth_thread_cpu_ns();
		total_ns += now - before;
	}
	truth_add(TRUTH_SELF, "descend", self_ns);
	truth_add(TRUTH_SELF, "bottom", bottom_ns);
	truth_add(TRUTH_TOTAL, "descend", total_ns);
	truth_add(TRUTH_TOTAL, "bottom", bottom_ns);
	truth_print();
	return 0;
}
