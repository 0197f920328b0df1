/* templates - a C++ program of many small frames: algorithms, containers, regular expressions.
 */
#include "truth.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

template <int Depth> struct nested {
	static uint64_t fold(const std::vector<uint64_t> &values,
			     const std::function<uint64_t(uint64_t, uint64_t)> &join)
	{
		uint64_t sum = 0;

		for (uint64_t value : values)
			sum = join(sum, value + Depth);
		return join(sum, nested<Depth - 1>::fold(values, join));
	}
};

template <> struct nested<0> {
	static uint64_t fold(const std::vector<uint64_t> &values,
			     const std::function<uint64_t(uint64_t, uint64_t)> &)
	{
		return values.size();
	}
};

static uint64_t words(const std::string &text)
{
	static const std::regex pattern("([a-z]+)([0-9]*)");
	std::unordered_map<std::string, std::unique_ptr<uint64_t>> counts;

	for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end;
	     ++match) {
		auto &slot = counts[match->str(1)];
		if (!slot)
			slot = std::make_unique<uint64_t>(0);
		++*slot;
	}
	return counts.size();
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 1500), sum = 0;

	for (uint64_t turn = 0; truth_thread_cpu_ns() < budget; turn++) {
		std::vector<uint64_t> values;
		std::ostringstream text;

		for (uint64_t i = 0; i < 300; i++) {
			values.push_back((i + turn) * 2654435761u % 1009);
			text << "word" << static_cast<char>('a' + i % 20) << i << ' ';
		}
		std::stable_sort(values.begin(), values.end());
		std::set<uint64_t> tree(values.begin(), values.end());
		sum += nested<12>::fold(values,
					[](uint64_t a, uint64_t b) { return a * 31 + b; });
		sum += words(text.str()) + tree.size();
	}
	truth_add(TRUTH_COUNT, "sum", sum);
	truth_print();
	return 0;
}
