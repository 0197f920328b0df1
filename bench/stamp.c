/*
 * stamp - runs a command and writes to a file when it began and ended and what CPU time it
 * took: stamp FILE COMMAND ARGS...
 *
 * One line: begin, end (CLOCK_MONOTONIC) and CPU time of the command with its
 * children, user and system, all in nanoseconds.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t time_ns(struct timeval time)
{
	return time.tv_sec * INT64_C(1000000000) + time.tv_usec * INT64_C(1000);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;

	if (argc < 3) {
		fprintf(stderr, "usage: stamp FILE COMMAND ARGS...\n");
		return 2;
	}
	int64_t begin = now_ns();
	pid_t child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child)
		return 2;
	int64_t end = now_ns();
	FILE *file = fopen(argv[1], "w");
	if (file == NULL)
		return 2;
	fprintf(file, "%" PRId64 " %" PRId64 " %" PRId64 "\n", begin, end,
		time_ns(usage.ru_utime) + time_ns(usage.ru_stime));
	fclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
