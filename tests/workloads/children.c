/*
 * children - a parent computes one part and its child two, the child made by fork, by
 * vfork and exec, or by posix_spawn: children fork|vfork|spawn [MS].
 *
 * The child prints its own truth through a pipe.
 */
#include "truth.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile uint64_t sink;

struct childs_truth {
	uint64_t spent_ns, cpu_ns;
};

KEEP static uint64_t parent_work(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t child_work(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

static uint64_t spend(uint64_t (*work)(uint64_t), uint64_t budget_ns)
{
	uint64_t begin = truth_thread_cpu_ns(), now = begin;

	for (uint64_t turn = 0; now - begin < budget_ns; turn++) {
		sink = work(truth_vary(turn, 200000, 300000));
		now = truth_thread_cpu_ns();
	}
	return now - begin;
}

static int be_the_child(int pipe_fd, uint64_t budget_ns)
{
	struct childs_truth truth = { .spent_ns = spend(child_work, budget_ns) };

	truth.cpu_ns = truth_process_cpu_ns();
	return write(pipe_fd, &truth, sizeof truth) == sizeof truth ? 0 : 2;
}

static pid_t make_child(const char *how, char **child_argv, int pipe_fd, uint64_t budget_ns)
{
	pid_t child = -1;

	if (strcmp(how, "fork") == 0) {
		child = fork();
		if (child == 0)
			exit(be_the_child(pipe_fd, budget_ns));
	} else if (strcmp(how, "vfork") == 0) {
		child = vfork();
		if (child == 0) {
			execv("/proc/self/exe", child_argv);
			_exit(127);
		}
	} else if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, child_argv, environ) !=
		   0) {
		child = -1;
	}
	return child;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "child") == 0)
		return be_the_child(atoi(argv[2]), strtoull(argv[3], NULL, 10));
	if (argc < 2) {
		fprintf(stderr, "usage: children fork|vfork|spawn [MS]\n");
		return 2;
	}
	uint64_t budget = truth_budget_ns(argc - 1, argv + 1, 1500);
	struct childs_truth truth;
	char fd_text[16], budget_text[32];
	int ends[2];

	if (pipe(ends) != 0)
		return 2;
	snprintf(fd_text, sizeof fd_text, "%d", ends[1]);
	snprintf(budget_text, sizeof budget_text, "%llu", (unsigned long long)budget * 2 / 3);
	char *child_argv[] = { argv[0], "child", fd_text, budget_text, NULL };
	pid_t child = make_child(argv[1], child_argv, ends[1], budget * 2 / 3);
	if (child < 0)
		return 2;
	uint64_t spent = spend(parent_work, budget / 3);
	int status = 0;
	if (waitpid(child, &status, 0) != child || status != 0 ||
	    read(ends[0], &truth, sizeof truth) != sizeof truth)
		return 2;
	truth_add(TRUTH_SELF, "parent_work", spent);
	truth_add(TRUTH_SELF, "child_work", truth.spent_ns);
	truth_add(TRUTH_PROCESS, "parent", truth_process_cpu_ns());
	truth_add(TRUTH_PROCESS, "child", truth.cpu_ns);
	truth_print();
	return 0;
}
