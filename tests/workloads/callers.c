/* callers - one callee, 30 parts of its time called by light() and 70 by heavy(). */
#include "truth.h"

static volatile uint64_t sink;

KEEP static uint64_t shared(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

/* The multiplication after the call keeps it from becoming a jump. */
KEEP static uint64_t light(uint64_t n)
{
	return shared(3 * n) * 3;
}

KEEP static uint64_t heavy(uint64_t n)
{
	return shared(7 * n) * 7;
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 800);
	uint64_t before = truth_thread_cpu_ns();

	for (uint64_t turn = 0; before < budget; turn++) {
		uint64_t n = truth_vary(turn, 40000, 60000);

		sink = light(n);
		uint64_t between = truth_thread_cpu_ns();
		sink = heavy(n);
		uint64_t after = truth_thread_cpu_ns();
		truth_add(TRUTH_EDGE, "light>shared", between - before);
		truth_add(TRUTH_EDGE, "heavy>shared", after - between);
		truth_add(TRUTH_SELF, "shared", after - before);
		before = after;
	}
	truth_print();
	return 0;
}
