/* vdso - half of the time asks the clock, through libc and the vDSO. */
#include "truth.h"

#include <time.h>

static volatile uint64_t sink;

KEEP static uint64_t ask_the_time(unsigned times)
{
	struct timespec now = { 0, 0 };
	uint64_t sum = 0;

	while (times--) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		sum += (uint64_t)now.tv_nsec;
	}
	return sum;
}

KEEP static uint64_t compute(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 800), spent[2] = { 0, 0 };
	uint64_t before = truth_thread_cpu_ns();

	for (uint64_t turn = 0; before < budget; turn++) {
		int next = spent[1] < spent[0];

		sink = next ? ask_the_time((unsigned)truth_vary(turn, 10000, 20000))
			    : compute(truth_vary(turn, 200000, 300000));
		uint64_t after = truth_thread_cpu_ns();
		spent[next] += after - before;
		before = after;
	}
	truth_add(TRUTH_TOTAL, "compute", spent[0]);
	truth_add(TRUTH_TOTAL, "ask_the_time", spent[1]);
	truth_print();
	return 0;
}
