/*
 * Parsing, sorting and recursion, in small functions: mixed TIMES-FILE [TURNS]
 *
 * Writes when it began and ended (CLOCK_MONOTONIC) and the CPU time between, in nanoseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NUMBERS 4000

static long long clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* expression: term {+ term}; term: factor {* factor}; factor: a digit or (expression) */
static long expression(const char **text);

static long factor(const char **text)
{
	long value;

	if (**text != '(')
		return *(*text)++ - '0';
	(*text)++;
	value = expression(text);
	(*text)++;
	return value;
}

static long term(const char **text)
{
	long value = factor(text);

	while (**text == '*') {
		(*text)++;
		value = value * factor(text) % 1009;
	}
	return value;
}

static long expression(const char **text)
{
	long value = term(text);

	while (**text == '+') {
		(*text)++;
		value += term(text);
	}
	return value;
}

static long parse_much(long count)
{
	long sum = 0;

	for (long i = 0; i < count; i++) {
		const char *text = "1+2*(3+4*5)*(6+7)+8*(9+(1+2)*3)+4";

		sum += expression(&text);
	}
	return sum;
}

static int compare(const void *a, const void *b)
{
	const long left = *(const long *)a, right = *(const long *)b;

	return left < right ? -1 : left > right;
}

static long sort_much(void)
{
	static long numbers[NUMBERS];

	for (long i = 0; i < NUMBERS; i++)
		numbers[i] = i * 7919 % 10007;
	qsort(numbers, NUMBERS, sizeof numbers[0], compare);
	return numbers[0];
}

static long fibonacci(long n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(int argc, char **argv)
{
	const long turns = argc > 2 ? atol(argv[2]) : 60;
	const long long begin_ns = clock_ns(CLOCK_MONOTONIC);
	const long long begin_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	long sum = 0;

	for (long i = 0; i < turns; i++)
		sum += parse_much(2000) + sort_much() + fibonacci(20);
	const long long cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns;
	FILE *file = fopen(argv[1], "w");

	if (file == NULL)
		return 1;
	fprintf(file, "%lld %lld %lld\n", begin_ns, clock_ns(CLOCK_MONOTONIC), cpu_ns);
	fclose(file);
	return sum == 0;
}
