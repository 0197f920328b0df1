/*
 * Threads that wait for C++'s locks: a deadlock of two mutexes, a read-write lock that is held for
 * writing, and one that two threads read.  Ends with its standard input.
 */
#include <cstdio>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unistd.h>

static std::mutex first;
static std::recursive_mutex second;
static std::shared_mutex written, read_by_two;
static std::latch both(2), held(3);

static void rest()
{
	held.count_down();
	pause();
}

static void first_then_second()
{
	std::lock_guard<std::mutex> one(first);
	both.arrive_and_wait();
	std::lock_guard<std::recursive_mutex> other(second);
}

static void second_then_first()
{
	std::lock_guard<std::recursive_mutex> one(second);
	both.arrive_and_wait();
	std::lock_guard<std::mutex> other(first);
}

static void writes()
{
	std::unique_lock<std::shared_mutex> lock(written);
	rest();
}

static void reads()
{
	std::shared_lock<std::shared_mutex> lock(read_by_two);
	rest();
}

static void wants_to_read()
{
	held.wait();
	std::shared_lock<std::shared_mutex> lock(written);
}

static void wants_to_write()
{
	held.wait();
	std::unique_lock<std::shared_mutex> lock(written);
}

static void wants_to_write_what_is_read()
{
	held.wait();
	std::unique_lock<std::shared_mutex> lock(read_by_two);
}

int main()
{
	for (void (*function)() :
	     { first_then_second, second_then_first, writes, reads, reads, wants_to_read,
	       wants_to_write, wants_to_write_what_is_read })
		std::thread(function).detach();
	puts("ready");
	fflush(stdout);
	getchar();
	_exit(0);
}
