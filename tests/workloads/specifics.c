/*
 * Thread-specific values where few programs set them: in a constructor, in destructors at a
 * thread's end, which set them again, in a signal handler, and with NULL and keys that do not
 * exist.  Prints how often destructors ran and what the calls said.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8

static pthread_key_t first, again, of_handler;
static int destroyed[THREADS];
static int handled;

static void set_again(void *value)
{
	int *left = value;

	if (--*left > 0 && pthread_setspecific(again, left) != 0)
		abort();
	__atomic_fetch_add(&destroyed[*left], 1, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void begin(void)
{
	if (pthread_key_create(&first, NULL) != 0 || pthread_setspecific(first, &first) != 0)
		abort();
}

static void on_signal(int number)
{
	(void)number;
	if (pthread_setspecific(of_handler, &handled) == 0 &&
	    pthread_getspecific(of_handler) == &handled)
		handled++;
}

static void *run(void *unused)
{
	static int left[THREADS];
	static int next;
	int *mine = &left[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)];

	(void)unused;
	*mine = 3;
	if (pthread_setspecific(again, mine) != 0)
		abort();
	return pthread_getspecific(first);
}

int main(void)
{
	pthread_t threads[THREADS];
	void *result;

	if (pthread_key_create(&again, set_again) != 0 ||
	    pthread_key_create(&of_handler, NULL) != 0)
		return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], &result);
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	errno = EBADF;
	const int rc = pthread_setspecific((pthread_key_t)100000, &rc);

	const int is_kept = pthread_getspecific(first) == &first && errno == EBADF;

	printf("destroyed %d %d %d, handled %d, kept %d, no key %d, NULL %d\n", destroyed[2],
	       destroyed[1], destroyed[0], handled, is_kept, rc == EINVAL,
	       pthread_setspecific(first, NULL) == 0 && pthread_getspecific(first) == NULL);
	return 0;
}
