/* plt - a loop that calls a tiny function of a shared library through the PLT. */
#include "truth.h"

uint64_t plt_callee(uint64_t x);

static volatile uint64_t sink;

KEEP static uint64_t call_much(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = plt_callee(x) ^ n;
	return x;
}

KEEP static uint64_t call_nothing(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 800);
	uint64_t before = truth_thread_cpu_ns();

	for (uint64_t turn = 0; before < budget; turn++) {
		sink = call_much(truth_vary(turn, 150000, 300000));
		uint64_t between = truth_thread_cpu_ns();
		sink = call_nothing(truth_vary(turn, 150000, 300000));
		uint64_t after = truth_thread_cpu_ns();
		truth_add(TRUTH_TOTAL, "call_much", between - before);
		truth_add(TRUTH_TOTAL, "call_nothing", after - between);
		before = after;
	}
	truth_print();
	return 0;
}
