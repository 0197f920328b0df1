/*
 * odd_frames - functions whose return address is not where it usually is; prints how often each
 * was called.
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALONE       __attribute__((noipa))
#define UNTRACED    __attribute__((no_instrument_function))
#define COUNT(name) calls_of_##name++

static long calls_of_aligns, calls_of_aligns_more, calls_of_nests, calls_of_compares,
	calls_of_after;
static volatile double sink;

ALONE static void after(int i)
{
	COUNT(after);
	sink += i;
}

/* Further in than what was called before: by its place alone it might be called by that. */
UNTRACED ALONE static void call_after(int i)
{
	volatile char room[4096];

	room[i] = 1;
	after(i + room[i]);
}

/* It has to know where its stack was before it was aligned. */
ALONE static double aligns(int depth)
{
	_Alignas(32) volatile double values[8];
	char *bytes = alloca((size_t)depth + 5);

	COUNT(aligns);
	memset(bytes, 2, (size_t)depth + 5);
	values[depth & 7] = bytes[depth];
	return depth == 0 ? 1 : aligns(depth - 1) + values[depth & 7];
}

ALONE static double aligns_more(int a, int b, int c, int d, int e, int f, int g, int bytes)
{
	_Alignas(1024) volatile double values[128];
	char *all = alloca((size_t)bytes);

	COUNT(aligns_more);
	all[bytes - 1] = (char)g;
	values[g] = a + b + c + d + e + f;
	return values[g] + all[bytes - 1];
}

/* The function within it is given in a register where its variables are. */
ALONE static int nests(int sign)
{
	int numbers[] = { 5, 3, 1, 4, 2 };

	int compares(const void *a, const void *b)
	{
		COUNT(compares);
		return (*(const int *)a - *(const int *)b) * sign;
	}
	COUNT(nests);
	qsort(numbers, 5, sizeof *numbers, compares);
	return numbers[0];
}

int main(void)
{
	double sum = 0;

	for (int i = 0; i < 100; i++) {
		sum += aligns(i % 5);
		call_after(i);
		sum += aligns_more(1, 2, 3, 4, 5, 6, i, 200 + i);
		call_after(i);
		sum += nests(i % 2 ? 1 : -1);
		call_after(i);
	}
	printf("the sum is %.3f\n", sum);
#define PRINT(name) printf("calls %s %ld\n", #name, calls_of_##name)
	PRINT(aligns);
	PRINT(aligns_more);
	PRINT(nests);
	PRINT(compares);
	PRINT(after);
	return 0;
}
