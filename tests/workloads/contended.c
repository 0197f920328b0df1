/* Four threads set the action of one signal and ask for it, 100,000 times each. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define TIMES   100000

static void on_signal(int number)
{
	(void)number;
}

static void *run(void *unused)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct sigaction before;

	for (int i = 0; i < TIMES; i++) {
		if (sigaction(SIGTRAP, &action, &before) != 0)
			abort();
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			abort();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 0;
}
