/*
 * Children that no handler of fork() is called in, each of which goes on calling functions in
 * an order of its own while its parent does: copies.c WAY.  Prints how often the parent called
 * which.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 10
#define TURNS    200
#define DEEP     4

#define FUNCTION_MAP(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

static unsigned long seed;
static unsigned counts[8];
static char stack[1 << 18] __attribute__((aligned(16)));

static inline __attribute__((always_inline, no_instrument_function)) unsigned any(void)
{
	seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return seed >> 60 & 7;
}

#define X(n) static void f##n(int deep);
FUNCTION_MAP(X)
#undef X
static void (*const functions[])(int) = {
#define X(n) f##n,
	FUNCTION_MAP(X)
#undef X
};

#define X(n)                                                 \
	static __attribute__((noinline)) void f##n(int deep) \
	{                                                    \
		counts[n]++;                                 \
		if (deep > 0)                                \
			functions[any()](deep - 1);          \
		__asm__ volatile("");                        \
	}
FUNCTION_MAP(X)
#undef X

static int turns(void *beginning)
{
	seed = (unsigned long)beginning;
	for (int i = 0; i < TURNS; i++)
		functions[any()](DEEP);
	return 0;
}

static pid_t make_child(const char *way, void *beginning)
{
	pid_t pid;

	if (strcmp(way, "clone") == 0)
		return clone(turns, stack + sizeof stack, SIGCHLD, beginning);
	pid = strcmp(way, "_Fork") == 0 ? _Fork()
					: (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(turns(beginning));
	return pid;
}

int main(int argc, char **argv)
{
	int bad = argc < 2;

	for (int i = 0; i < CHILDREN && !bad; i++) {
		const pid_t pid = make_child(argv[1], (void *)(2L * i + 1));
		int status = 1;

		turns((void *)(2L * i + 2));
		bad = waitpid(pid, &status, 0) != pid || status != 0;
	}
	for (int i = 0; i < 8; i++)
		printf("calls f%d %u\n", i, counts[i]);
	return bad;
}
