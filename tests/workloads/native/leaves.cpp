/*
 * leaves - functions that are left by jumps that no library is asked for; prints how often each
 * was called.
 */
#include <cstdio>
#include <ucontext.h>

#define COUNTED(name)                \
	static long calls_of_##name; \
	__attribute__((noinline)) static
#define COUNT(name) calls_of_##name++

static volatile long sink;
static void *place[5];
static ucontext_t context;

/* Further in than what was left: by its place alone it might be called by that. */
COUNTED(after) void after(int i)
{
	volatile char room[4096];

	COUNT(after);
	room[i] = 1;
	sink += room[i];
}

static inline __attribute__((always_inline)) void inlined(int i)
{
	sink -= i;
	after(i);
}

COUNTED(holds) void holds(int i)
{
	COUNT(holds);
	sink += i;
	inlined(i);
	sink++;
}

COUNTED(jumps) void jumps(int depth, int i)
{
	COUNT(jumps);
	if (depth > 0)
		jumps(depth - 1, i);
	else if (i % 3 == 0)
		__builtin_longjmp(place, 1);
	else if (i % 3 == 1)
		setcontext(&context);
	else
		throw i;
	sink++;
}

COUNTED(by_builtin) void by_builtin(int i)
{
	COUNT(by_builtin);
	if (__builtin_setjmp(place) == 0)
		jumps(3, i);
	holds(i);
	after(i);
}

COUNTED(by_context) void by_context(int i)
{
	volatile bool is_back = false;

	COUNT(by_context);
	getcontext(&context);
	if (!is_back) {
		is_back = true;
		jumps(3, i);
	}
	holds(i);
	after(i);
}

COUNTED(by_exception) void by_exception(int i)
{
	COUNT(by_exception);
	try {
		jumps(3, i);
	} catch (int) {
		holds(i);
		after(i);
	}
}

__attribute__((no_instrument_function)) int main()
{
	for (int i = 0; i < 300; i += 3) {
		by_builtin(i);
		by_context(i + 1);
		by_exception(i + 2);
	}
#define PRINT(name) std::printf("calls " #name " %ld\n", calls_of_##name)
	PRINT(after);
	PRINT(holds);
	PRINT(jumps);
	PRINT(by_builtin);
	PRINT(by_context);
	PRINT(by_exception);
	return 0;
}
