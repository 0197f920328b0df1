/*
 * A library that is loaded while the program runs: it has a thread and a handler, and libc's
 * functions by their oldest versions.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int plugin_run(int signal);

#if defined(__x86_64__)
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_sigmask, pthread_sigmask@GLIBC_2.2.5");
#endif

static volatile sig_atomic_t seen;

static void on_signal(int signal)
{
	(void)signal;
	seen++;
}

static void *run(void *argument)
{
	unsigned long *sum = argument;

	for (int i = 0; i < 20000000; i++)
		*sum = *sum * 6364136223846793005UL + 1;
	return NULL;
}

int plugin_run(int signal)
{
	struct sigaction action = { .sa_handler = on_signal }, old;
	unsigned long sum = 1;
	pthread_t thread;
	sigset_t set, before;

	sigaction(signal, &action, &old);
	raise(signal);
	sigaction(signal, &old, NULL);
	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	if (pthread_create(&thread, NULL, run, &sum) != 0)
		return 1;
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	printf("plugin: %lu, %d signals, was default %d\n", sum, (int)seen,
	       old.sa_handler == SIG_DFL);
	fflush(NULL);
	return 0;
}
