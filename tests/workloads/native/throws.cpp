/*
 * throws - exceptions through functions; prints how often each was called.
 */
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

#define COUNTED(name)                             \
	static std::atomic<long> calls_of_##name; \
	__attribute__((noinline)) static
#define COUNT(name) calls_of_##name++

static volatile long sink;
static int destroyed;

struct guard {
	__attribute__((no_instrument_function)) ~guard()
	{
		destroyed++;
	}
};

COUNTED(after) void after(int i)
{
	COUNT(after);
	sink += i;
}

COUNTED(throws) void throws(int depth, int i)
{
	guard on_the_way;

	COUNT(throws);
	if (depth > 0)
		throws(depth - 1, i);
	else if (i % 3 == 0)
		throw std::runtime_error("third " + std::to_string(i));
	sink++;
}

COUNTED(rethrows) void rethrows(int i)
{
	COUNT(rethrows);
	try {
		throws(4, i);
	} catch (const std::exception &) {
		after(i);
		throw;
	}
	sink++;
}

COUNTED(catches) int catches(int i)
{
	COUNT(catches);
	try {
		rethrows(i);
	} catch (const std::runtime_error &error) {
		after(i);
		return (int)std::string(error.what()).size();
	}
	return 0;
}

int main()
{
	long sum = 0;

	for (int i = 0; i < 3000; i++)
		sum += catches(i);
	std::printf("sum %ld, destroyed %d\n", sum, destroyed);
#define PRINT(name) std::printf("calls %s %ld\n", #name, calls_of_##name.load())
	PRINT(after);
	PRINT(throws);
	PRINT(rethrows);
	PRINT(catches);
	return 0;
}
