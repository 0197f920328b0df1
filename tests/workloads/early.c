/*
 * early - a library whose constructor does what constructors had better not do: it looks at the
 * environment, starts a thread and a program, and computes.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile unsigned long sink;

__attribute__((noinline)) void early_work(void);
__attribute__((noinline)) void early_work(void)
{
	for (unsigned long i = 0; i < 60000000; i++)
		sink += i;
}

static void *run(void *unused)
{
	early_work();
	return unused;
}

__attribute__((constructor)) static void begin(int argc, char **argv, char **entries)
{
	pthread_t thread;
	int count = 0, status;

	(void)argc;
	for (char **entry = entries; *entry != NULL; entry++, count++)
		if (strncmp(*entry, "FATHOM", 6) == 0 || strncmp(*entry, "LD_", 3) == 0)
			dprintf(1, "%s's constructor finds %s\n", argv[0], *entry);
	dprintf(1, "%s: %d entries, getenv %s\n", argv[0], count,
		getenv("LD_PRELOAD") != NULL ? getenv("LD_PRELOAD") : "(none)");
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	const pid_t pid = fork();

	if (pid == 0) {
		unsetenv("LD_PRELOAD");
		execlp("env", "env", "-u", "_", (char *)NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	dprintf(1, "env ended with %x\n", status);
}
