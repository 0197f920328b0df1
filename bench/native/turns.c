/*
 * turns - for each line of its input a turn of the same work; prints the CPU time that it took, in
 * nanoseconds.  Sorting, reading a MiB here and there, searching text, printing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NUMBERS 20000
#define WORDS   (1U << 18)
#define TEXT    65536

static unsigned int words[WORDS];
static char text[TEXT];
static volatile unsigned int sink;

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const unsigned int left = *(const unsigned int *)a, right = *(const unsigned int *)b;

	return left < right ? -1 : left > right;
}

static unsigned int sort_much(void)
{
	unsigned int number = 1;

	for (int i = 0; i < NUMBERS; i++)
		words[i] = number = number * 1664525 + 1013904223;
	qsort(words, NUMBERS, sizeof words[0], compare);
	return words[NUMBERS / 2];
}

static unsigned int read_much(void)
{
	unsigned int at = 0, sum = 0;

	for (int i = 0; i < 300000; i++) {
		at = (at * 5 + 12345 + sum) % WORDS;
		sum += words[at] & 3;
	}
	return sum;
}

static unsigned int search(void)
{
	unsigned int count = 0;

	for (int i = 0; i < TEXT - 1; i++)
		text[i] = (char)('a' + i * 7 % 26);
	for (int i = 0; i < 40; i++) {
		const char *found = text;

		while ((found = memchr(found, 'a' + i % 26,
				       (size_t)(text + TEXT - 1 - found))) != NULL) {
			found++;
			count++;
		}
	}
	return count;
}

static unsigned int print(void)
{
	unsigned int length = 0;
	char line[64];

	for (int i = 0; i < 8000; i++)
		length += (unsigned int)snprintf(line, sizeof line, "%d abc %x", i,
						 (unsigned int)i * 3);
	return length;
}

int main(void)
{
	char line[16];

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin) != NULL) {
		const long long begin = cpu_ns();

		sink = sort_much() + read_much() + search() + print();
		printf("%lld\n", cpu_ns() - begin);
	}
	return 0;
}
