/*
 * aliased - three functions take turns of exactly a third of a millisecond of the
 * thread's CPU time each: a sampler with a round period sees only one of them.
 *
 * The turns end at multiples of 1/3 ms of the thread's clock, so they never drift.
 */
#include "truth.h"

#define PIECE 4000 /* steps between looks at the clock: a few microseconds */

static uint64_t step(uint64_t x)
{
	for (int i = 0; i < PIECE; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static volatile uint64_t sink;

KEEP static void first_phase(uint64_t until_ns)
{
	while (truth_thread_cpu_ns() < until_ns)
		sink = step(sink);
}

KEEP static void second_phase(uint64_t until_ns)
{
	while (truth_thread_cpu_ns() < until_ns)
		sink = step(sink) + 1;
}

KEEP static void third_phase(uint64_t until_ns)
{
	while (truth_thread_cpu_ns() < until_ns)
		sink = step(sink) + 2;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(uint64_t until_ns);
	} phases[3] = { { "first_phase", first_phase },
			{ "second_phase", second_phase },
			{ "third_phase", third_phase } };
	uint64_t budget = truth_budget_ns(argc, argv, 10000), spent[3] = { 0 };
	uint64_t before = truth_thread_cpu_ns();

	for (uint64_t turn = before * 3 / 1000000 + 1; before < budget; turn++) {
		phases[turn % 3].run(turn * 1000000 / 3);
		uint64_t after = truth_thread_cpu_ns();
		spent[turn % 3] += after - before;
		before = after;
	}
	for (int i = 0; i < 3; i++)
		truth_add(TRUTH_TOTAL, phases[i].name, spent[i]);
	truth_print();
	return 0;
}
