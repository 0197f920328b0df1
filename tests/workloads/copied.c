/*
 * Children that libc's fork() has not made: they set SIGTRAP's action, compute, and fork.
 * Prints how many of the grandchildren ended otherwise than by their exit code.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 20

static void compute(void)
{
	for (uint64_t i = 0, x = 1; i < 5000000; i++) {
		x = x * 6364136223846793005ULL + 1;
		__asm__ volatile("" : "+r"(x));
	}
}

static int be_child(void)
{
	int status = 0;

	signal(SIGTRAP, SIG_DFL);
	compute();
	const pid_t pid = fork();

	if (pid == 0) {
		compute();
		_exit(3);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 0 : 1;
}

int main(void)
{
	int bad = 0;

	for (int i = 0; i < CHILDREN; i++) {
		int status = 0;
		const pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);

		if (pid == 0)
			_exit(be_child());
		waitpid(pid, &status, 0);
		bad += status != 0;
	}
	printf("%d\n", bad);
	return 0;
}
