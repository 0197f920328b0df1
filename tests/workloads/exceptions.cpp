/*
 * exceptions - C++: a phase that throws and catches, a phase of templates, a phase
 * whose work is inlined into its caller.
 */
#include "truth.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace workload
{

static volatile uint64_t sink;

KEEP void may_throw(uint64_t n)
{
	if (n % 3 != 2)
		throw std::runtime_error("no luck");
	sink = n;
}

KEEP uint64_t throwing(uint64_t times)
{
	uint64_t caught = 0;

	for (uint64_t i = 0; i < times; i++) {
		try {
			may_throw(i);
		} catch (const std::exception &) {
			caught++;
		}
	}
	return caught;
}

template <typename Key> struct counted {
	KEEP uint64_t count(uint64_t n)
	{
		std::map<Key, uint64_t> counts;
		std::vector<Key> keys;

		for (uint64_t i = 0; i < n; i++)
			counts[static_cast<Key>(i * 2654435761u % 509)]++;
		for (const auto &pair : counts)
			keys.push_back(pair.first);
		std::sort(keys.begin(), keys.end(), [](Key a, Key b) { return a > b; });
		return static_cast<uint64_t>(keys.front());
	}
};

__attribute__((always_inline)) inline uint64_t inlined_mix(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP uint64_t with_inlined_work(uint64_t n)
{
	return inlined_mix(n);
}

} // namespace workload

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 1500), spent[3] = { 0, 0, 0 };
	uint64_t before = truth_thread_cpu_ns();
	workload::counted<long> counter;

	for (uint64_t turn = 0; before < budget; turn++) {
		auto next = std::min_element(spent, spent + 3) - spent;

		if (next == 0)
			workload::sink = workload::throwing(truth_vary(turn, 200, 300));
		else if (next == 1)
			workload::sink = counter.count(truth_vary(turn, 10000, 20000));
		else
			workload::sink =
				workload::with_inlined_work(truth_vary(turn, 200000, 300000));
		uint64_t after = truth_thread_cpu_ns();
		spent[next] += after - before;
		before = after;
	}
	truth_add(TRUTH_TOTAL, "workload::throwing", spent[0]);
	truth_add(TRUTH_TOTAL, "workload::counted<long>::count", spent[1]);
	truth_add(TRUTH_TOTAL, "workload::with_inlined_work", spent[2]);
	truth_add(TRUTH_SELF, "workload::inlined_mix", spent[2]);
	truth_print();
	return 0;
}
