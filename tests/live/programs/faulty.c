/*
 * What sanitizers report.
 *
 * usage: faulty overflow|race|leak|undefined
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shared;
static char *volatile lost;

static unsigned long spin(unsigned long seed)
{
	for (int i = 0; i < 20000000; i++)
		seed = seed * 6364136223846793005UL + 1;
	return seed;
}

static void *race(void *argument)
{
	for (int i = 0; i < 1000; i++)
		shared++;
	return argument;
}

static void run_race(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, race, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void overflow(void)
{
	char *volatile memory = malloc(10);

	memory[10 + shared] = 1;
	free(memory);
}

static __attribute__((noinline)) void lose(void)
{
	lost = malloc(1234);
	memset(lost, 1, 1234);
	lost = NULL;
}

/*
 * What lose() and malloc() have left there would be found, by chance, in gaps of the frames of
 * whoever looks for leaks; and what is pointed to has not leaked.
 */
static __attribute__((noinline, no_sanitize("address"))) void overwrite_stack(void)
{
	volatile char below[65536];

	for (size_t i = 0; i < sizeof below; i++)
		below[i] = 0;
}

static void leak(void)
{
	lose();
	overwrite_stack();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int large = INT_MAX - argc + 2;

	printf("%lu\n", spin(1));
	if (strcmp(what, "overflow") == 0)
		overflow();
	if (strcmp(what, "race") == 0)
		run_race();
	if (strcmp(what, "leak") == 0)
		leak();
	if (strcmp(what, "undefined") == 0)
		printf("%d\n", large + 1);
	printf("%lu\n", spin(2));
	return 0;
}
