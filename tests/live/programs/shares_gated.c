/*
 * Five functions, and how long each took by the thread's clock, as JSON: from when its standard input can be
 * read, for so many milliseconds of CPU time as its argument says.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEEP __attribute__((noinline, noipa))

static volatile uint64_t sink;

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline uint64_t multiply(uint64_t n)
{
	uint64_t x = n;

	while (n-- > 0)
		x = x * 6364136223846793005U + 1;
	return x;
}

KEEP static void one(uint64_t n)
{
	sink = multiply(100 * n);
}

KEEP static void two(uint64_t n)
{
	sink = multiply(200 * n);
}

KEEP static void three(uint64_t n)
{
	sink = multiply(300 * n);
}

KEEP static void divides(uint64_t n)
{
	uint64_t x = n;

	for (n *= 20; n > 0; n--)
		x = UINT64_MAX / (x | 1) + n;
	sink = x;
}

KEEP static void sums(uint64_t n)
{
	static int numbers[5000];
	uint64_t sum = 0;

	for (int round = 0; round < 50; round++) {
		for (uint64_t i = 0; i < n; i++)
			sum += (uint64_t)numbers[i];
	}
	sink = sum;
}

KEEP static void warm(void)
{
	for (uint64_t i = 0; i < 100000; i++)
		sink = i;
}

static struct work {
	const char *name;
	void (*function)(uint64_t);
	uint64_t ns;
} work[] = { { "one", one, 0 },
	     { "two", two, 0 },
	     { "three", three, 0 },
	     { "divides", divides, 0 },
	     { "sums", sums, 0 } };

#define COUNT (sizeof work / sizeof *work)

int main(int argc, char **argv)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	uint64_t end;

	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 0) == 0)
		warm();
	end = clock_ns() + (uint64_t)atoi(argv[argc - 1]) * 1000000;
	for (uint64_t turn = 0; clock_ns() < end; turn++) {
		for (size_t i = 0; i < COUNT; i++) {
			const uint64_t begin = clock_ns();

			work[i].function(1000 + turn * 7919 % 4000);
			work[i].ns += clock_ns() - begin;
		}
	}
	for (size_t i = 0; i < COUNT; i++)
		printf("%s\"%s\": %llu", i > 0 ? ", " : "{", work[i].name,
		       (unsigned long long)work[i].ns);
	puts("}");
	return 0;
}
