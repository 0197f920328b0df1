/* brief - a program that lives for 20 ms of CPU time and computes all along. */
#include "truth.h"

static volatile uint64_t sink;

KEEP static uint64_t hurry(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 20);
	uint64_t begin = truth_thread_cpu_ns(), now = begin;

	while (now < budget) {
		sink = hurry(50000);
		now = truth_thread_cpu_ns();
	}
	truth_add(TRUTH_SELF, "hurry", now - begin);
	truth_print();
	return 0;
}
