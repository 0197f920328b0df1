// trap_workload_cpp - exceptions, virtual calls and templates of the C++ library; TRAP_WORKLOAD
// is the name of its function.
#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
};

struct Square : Shape {
	double side;
	explicit Square(double length) : side(length)
	{
	}
	double area() const override
	{
		return side * side;
	}
};

struct Guard {
	std::string &log;
	~Guard()
	{
		log += "left ";
	}
};

[[gnu::noinline]] void fail(int depth, std::string &log)
{
	Guard guard{ log };
	if (depth == 0)
		throw std::runtime_error("thrown on purpose");
	fail(depth - 1, log);
	log += "never";
}

[[gnu::noinline]] void rethrow(std::string &log)
{
	try {
		fail(3, log);
	} catch (const std::logic_error &) {
		log += "never";
	} catch (...) {
		log += "again ";
		throw;
	}
}
} // namespace

extern "C" void TRAP_WORKLOAD(void);

extern "C" void TRAP_WORKLOAD(void)
{
	std::string log;
	try {
		rethrow(log);
	} catch (const std::exception &e) {
		log += e.what();
	}
	std::vector<std::unique_ptr<Shape>> shapes;
	for (int i = 0; i < 8; i++)
		shapes.push_back(std::make_unique<Square>(8 - i));
	std::sort(shapes.begin(), shapes.end(),
		  [](const auto &a, const auto &b) { return a->area() < b->area(); });
	std::map<std::string, int> counts;
	std::istringstream words(log);
	for (std::string word; words >> word;)
		counts[word]++;
	std::ostringstream out;
	for (const auto &entry : counts)
		out << entry.first << '=' << entry.second << ' ' << 1.5 << '\n';
}
