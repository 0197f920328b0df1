/*
 * surroundings - prints what a program sees of itself: descriptors, signals ignored,
 * blocked and pending, threads, limits, its own environment's FATHOM and LD_ names, timers.
 *
 * Run with and without a profiler the lines are the same.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

static int count_entries(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;

	if (folder == NULL)
		return -1;
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

static void print_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		char link[64], target[4096];

		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		ssize_t len = readlink(link, target, sizeof target - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		/* Pipes of the test have numbers of their own each time. */
		target[strcspn(target, ":[")] = '\0';
		printf("fd %d %s\n", fd, target);
	}
}

static void print_signals(void)
{
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) != 0)
			continue;
		printf("signal %d %s%s\n", number,
		       action.sa_handler == SIG_DFL   ? "default"
		       : action.sa_handler == SIG_IGN ? "ignored"
						      : "handled",
		       sigismember(&blocked, number) == 1 ? " blocked" : "");
	}
}

static void print_environment(void)
{
	for (char **entry = environ; *entry != NULL; entry++)
		if (strncmp(*entry, "FATHOM", 6) == 0 || strncmp(*entry, "LD_", 3) == 0)
			printf("environment %s\n", *entry);
}

int main(void)
{
	struct rlimit limit;

	print_descriptors();
	print_signals();
	print_environment();
	printf("threads %d\n", count_entries("/proc/self/task") - 2);
	for (int resource = 0; resource < RLIMIT_NLIMITS; resource++)
		if (getrlimit((unsigned)resource, &limit) == 0)
			printf("limit %d %llu %llu\n", resource,
			       (unsigned long long)limit.rlim_cur,
			       (unsigned long long)limit.rlim_max);
	printf("session %d group %d terminal %d\n", getsid(0) == getpid(),
	       getpgrp() == getpid(), isatty(0));
	return 0;
}
