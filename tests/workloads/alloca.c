/* alloca - frames whose size is known only when they run: the CFA hangs on a register. */
#include "truth.h"

#include <alloca.h>
#include <string.h>

static volatile uint64_t sink;

KEEP static uint64_t grow(uint64_t n)
{
	size_t size = 64 + n % 512;
	char *piece = alloca(size);
	uint64_t x = n;

	memset(piece, (int)n, size);
	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005u + (unsigned char)piece[i % size];
	return x;
}

KEEP static uint64_t through_alloca(uint64_t n)
{
	size_t size = 32 + n % 128;
	char *piece = alloca(size);

	memset(piece, 1, size);
	return grow(n) + (uint64_t)piece[size / 2];
}

KEEP static uint64_t plain(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 800);
	uint64_t before = truth_thread_cpu_ns();

	for (uint64_t turn = 0; before < budget; turn++) {
		sink = through_alloca(truth_vary(turn, 50000, 50000));
		uint64_t between = truth_thread_cpu_ns();
		sink = plain(truth_vary(turn, 150000, 300000));
		uint64_t after = truth_thread_cpu_ns();
		truth_add(TRUTH_TOTAL, "through_alloca", between - before);
		truth_add(TRUTH_TOTAL, "plain", after - between);
		before = after;
	}
	truth_print();
	return 0;
}
