/*
 * late - twenty children that end at once, then one that lives: late HOW [PROGRAM]
 *
 * HOW: "burn"; "thread" does it in a thread; "filter" below a filter of system calls; "root" and
 * "raw_root" in another root directory, the working one; "resumes" is another image of this
 * program, which has sampling go on; "exec" executes PROGRAM, which says for itself what it
 * does; "waits" sleeps before it burns, and prints whether a call was cut short; "forks" has
 * its own child do it.  What burns prints its name.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fathom.h"

#define BRIEF_ONES 20
#define BURN_MS    300

static uint64_t cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static volatile uint64_t sum;

__attribute__((noinline)) static void burns(void)
{
	while (cpu_ms() < BURN_MS)
		for (unsigned i = 0; i < 100000; i++)
			sum += i;
}

static void *burn_in_thread(void *unused)
{
	burns();
	return unused;
}

/* Everything is allowed: it is that there is one. */
static void put_filter_up(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = { .len = 1, .filter = &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		exit(3);
}

static void wait_often(void)
{
	int cut_short = 0;

	for (int i = 0; i < 20; i++) {
		cut_short += poll(NULL, 0, 1) != 0;
		for (unsigned j = 0; j < 300000; j++)
			sum += j;
	}
	printf("%d calls cut short\n", cut_short);
}

/* The next image, in place of a child. */
static int resume(void)
{
	fathom_resume();
	burns();
	puts("resumed");
	return 0;
}

static void live(const char *how, char **program)
{
	char *resuming[] = { "late", "resume", NULL };
	pthread_t thread;

	if (strcmp(how, "resumes") == 0) {
		execv("/proc/self/exe", resuming);
		exit(2);
	}
	if (strcmp(how, "exec") == 0) {
		execv(program[0], program);
		exit(2);
	}
	if (strcmp(how, "filter") == 0)
		put_filter_up();
	if ((strcmp(how, "root") == 0 && chroot(".") != 0) ||
	    (strcmp(how, "raw_root") == 0 && syscall(SYS_chroot, ".") != 0))
		exit(5);
	if (strcmp(how, "waits") == 0)
		wait_often();
	if (strcmp(how, "forks") == 0 && fork() != 0) {
		wait(NULL);
		exit(0);
	}
	if (strcmp(how, "thread") != 0)
		burns();
	else if (pthread_create(&thread, NULL, burn_in_thread, NULL) != 0 ||
		 pthread_join(thread, NULL) != 0)
		exit(4);
	printf("%s burned\n", how);
	exit(0);
}

int main(int argc, char **argv)
{
	int status = 1;

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "resume") == 0)
		return resume();
	for (int i = 0; i < BRIEF_ONES; i++) {
		const pid_t brief = fork();

		if (brief == 0)
			_exit(0);
		waitpid(brief, NULL, 0);
	}
	const pid_t child = fork();

	if (child == 0)
		live(argv[1], argv + 2);
	waitpid(child, &status, 0);
	printf("ended with %d\n",
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
