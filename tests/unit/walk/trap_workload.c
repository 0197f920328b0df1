/*
 * trap_workload - calls of every kind a C program makes; compiled with several flags.
 *
 * TRAP_WORKLOAD is the name of the function to define.
 */
#include <alloca.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "trap_walk.h"

#if __has_attribute(noclone)
#define NOINLINE __attribute__((noinline, noclone))
#else
#define NOINLINE __attribute__((noinline))
#endif

void TRAP_WORKLOAD(void);

static volatile uint64_t sink;

static NOINLINE uint64_t fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static NOINLINE int is_odd(unsigned n);

static NOINLINE int is_even(unsigned n)
{
	return n == 0 ? 1 : is_odd(n - 1);
}

static NOINLINE int is_odd(unsigned n)
{
	return n == 0 ? 0 : is_even(n - 1);
}

/* Deep, and each frame of another size. */
static NOINLINE uint64_t descend(unsigned depth, size_t size)
{
	volatile char *space = alloca(size);

	space[0] = (char)depth;
	space[size - 1] = (char)depth;
	if (depth == 0)
		return (uint64_t)space[0];
	return descend(depth - 1, size % 700 + depth) + (uint64_t)space[size - 1];
}

static int compare_ints(const void *left, const void *right)
{
	int a = *(const int *)left;
	int b = *(const int *)right;

	return (a > b) - (a < b);
}

#define NUMBERS 40

static NOINLINE void sort(void)
{
	int numbers[NUMBERS];
	int key = 77;

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = i * 7919 % 263;
	qsort(numbers, NUMBERS, sizeof numbers[0], compare_ints);
	sink += bsearch(&key, numbers, NUMBERS, sizeof numbers[0], compare_ints) != NULL;
}

static NOINLINE int format(char *out, size_t len, const char *how, ...)
{
	va_list arguments;

	va_start(arguments, how);
	int rc = vsnprintf(out, len, how, arguments);
	va_end(arguments);
	return rc;
}

static NOINLINE void print(void)
{
	char text[300];

	sink += (unsigned)format(text, sizeof text, "%d %s %08.3f %p %c %-20s|%llx", 17,
				 "words", 3.14159 * (double)sink, (void *)text, 'x', "padded",
				 0x1234567890ULL);
	sink += (uint64_t)strtod("2.718281828459045", NULL) + strtoull("123456789", NULL, 10);
}

/* Sizes on both sides of every threshold of the vector versions. */
static NOINLINE void strings(void)
{
	static char from[9000], to[9000];
	static const size_t sizes[] = { 0,  1,  3,  7,   8,   15,  16,  17,  31,   32,   33,
					63, 64, 65, 127, 128, 129, 255, 256, 1000, 4095, 8200 };

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		memset(from, 'a', sizes[i]);
		from[sizes[i]] = 0;
		memcpy(to, from, sizes[i] + 1);
		memmove(to + 3, to, sizes[i] / 2);
		sink += strlen(to) + (strchr(from, 'b') != NULL) + (uint64_t)strcmp(from, to);
		sink += (uint64_t)memcmp(from, to, sizes[i]) +
			(memchr(from, 'z', sizes[i]) == NULL);
		if (sizes[i] <= 256) /* one version for all, byte by byte */
			sink += strstr(from, "ab") == NULL;
	}
}

/* A frame that must be realigned, one that is large, and a structure returned in memory. */
struct large {
	uint64_t words[40];
};

static NOINLINE struct large make_large(uint64_t seed)
{
	struct large l;

	for (int i = 0; i < 40; i++)
		l.words[i] = seed * (uint64_t)i;
	return l;
}

static NOINLINE uint64_t realigned(uint64_t seed, size_t extra)
{
	alignas(128) volatile uint64_t aligned[16];
	volatile char *more = alloca(extra);

	more[extra - 1] = 1;
	aligned[3] = make_large(seed).words[5];
	return aligned[3] + fibonacci(3) + (uint64_t)more[extra - 1];
}

static NOINLINE uint64_t large_frame(void)
{
	volatile char space[70000];

	space[0] = 1;
	space[69999] = 2;
	return (uint64_t)space[0] + fibonacci(2);
}

static NOINLINE uint64_t many_arguments(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
					uint64_t e, uint64_t f, uint64_t g, uint64_t h,
					double x)
{
	return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + (uint64_t)x +
	       is_even(3);
}

static NOINLINE void memory(void)
{
	void *blocks[16];

	for (size_t i = 0; i < 16; i++)
		blocks[i] = malloc(i * i * 650 + 1);
	for (size_t i = 0; i < 16; i += 2)
		blocks[i] = realloc(blocks[i], i * 2500 + 10);
	for (size_t i = 0; i < 16; i++)
		free(blocks[i]);
}

static NOINLINE void system_calls(void)
{
	struct timespec now;

	for (int i = 0; i < 3; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		sink += (uint64_t)now.tv_nsec + (uint64_t)getppid() + (uint64_t)time(NULL);
	}
	errno = 0;
	sink += (uint64_t)close(-1) + (uint64_t)errno;
}

static NOINLINE void mathematics(void)
{
	double x = (double)(sink & 1023) + 0.5;

	sink += (uint64_t)(sin(x) + exp(-x) + pow(x, 1.7) + log(x) + fmod(x, 0.3));
}

static NOINLINE void jump(jmp_buf *to, unsigned depth)
{
	if (depth == 0)
		longjmp(*to, 1);
	if (sink != 0) /* always: a function that cannot return has fewer rules */
		jump(to, depth - 1);
	sink++;
}

static NOINLINE void jumps(void)
{
	jmp_buf here;

	if (setjmp(here) == 0)
		jump(&here, 5);
}

static NOINLINE void signals(void)
{
	raise(SIGUSR1);
	raise(SIGUSR2); /* on another stack */
}

typedef void routine(void);

static routine *volatile routines[] = { sort,    print,        strings,     memory,
					signals, system_calls, mathematics, jumps };

NOINLINE void TRAP_WORKLOAD(void)
{
	sink += fibonacci(10) + (uint64_t)is_even(20) + descend(30, 500);
	sink += realigned(sink, 100 + (sink & 63)) + large_frame();
	sink += many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9.5);
	for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++)
		routines[i]();
}
