/*
 * masses - many processes and threads, in one of the ways there are to make them; prints how
 * they ended, which is the same at each run: masses HOW [COUNT].  Without HOW it lists them.
 *
 * Half of the CPU time is spent in work_of_children, as far as children have time to compute.
 */
#include "truth.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKERS 4

static volatile uint64_t sink;
static char *self_path;

KEEP static uint64_t work_of_children(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t work_of_parents(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

static void spend(uint64_t (*work)(uint64_t), uint64_t budget_ms)
{
	const uint64_t begin = truth_thread_cpu_ns();

	while (truth_thread_cpu_ns() - begin < budget_ms * 1000000)
		sink = work(50000);
}

/* How children ended: their number, and the sum of their codes. */
struct sums {
	unsigned int ended, codes, signals;
};

static void reap(pid_t child, struct sums *sums)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	sums->ended++;
	sums->codes += WIFEXITED(status) ? (unsigned int)WEXITSTATUS(status) : 0;
	sums->signals += WIFSIGNALED(status);
}

static void add(struct sums *to, const struct sums *sums)
{
	to->ended += sums->ended;
	to->codes += sums->codes;
	to->signals += sums->signals;
}

static pid_t fork_or_die(void)
{
	const pid_t child = fork();

	if (child < 0)
		abort();
	return child;
}

static void exits(unsigned int count, struct sums *sums)
{
	for (unsigned int i = 0; i < count; i++) {
		const pid_t child = fork_or_die();

		if (child == 0)
			_exit((int)i % 7);
		reap(child, sums);
	}
}

/* Most are over at once, and each twentieth works: its siblings' ends are still on their way. */
static void now_and_then(unsigned int count, struct sums *sums)
{
	for (unsigned int i = 0; i < count; i++) {
		const pid_t child = fork_or_die();

		if (child == 0) {
			if (i % 20 == 19)
				spend(work_of_children, 5);
			_exit((int)i % 7);
		}
		reap(child, sums);
	}
}

static void execs(unsigned int count, struct sums *sums)
{
	for (unsigned int i = 0; i < count; i++) {
		const pid_t child = fork_or_die();

		if (child == 0) {
			execl(self_path, self_path, "end with 3", (char *)NULL);
			_exit(100);
		}
		reap(child, sums);
	}
}

KEEP static pid_t vfork_one(bool is_to_exec)
{
	const pid_t child = vfork();

	if (child == 0) {
		if (is_to_exec)
			execl(self_path, self_path, "end with 3", (char *)NULL);
		_exit(4);
	}
	return child;
}

static void vforks(unsigned int count, struct sums *sums)
{
	for (unsigned int i = 0; i < count; i++)
		reap(vfork_one(i % 2 == 0), sums);
}

/* Sixteen at a time, so that many compute at once. */
static void crowds(unsigned int count, struct sums *sums)
{
	pid_t children[16];

	for (unsigned int i = 0; i < count; i += 16) {
		for (unsigned int k = 0; k < 16; k++) {
			children[k] = fork_or_die();
			if (children[k] == 0) {
				spend(work_of_children, 5);
				_exit((int)k);
			}
		}
		for (unsigned int k = 0; k < 16; k++)
			reap(children[k], sums);
		spend(work_of_parents, 80);
	}
}

/* By raw system call: libc's handlers of fork do not run in the child. */
static void clones(unsigned int count, struct sums *sums)
{
	for (unsigned int i = 0; i < count; i++) {
		const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (child == 0) {
			spend(work_of_children, 20);
			syscall(SYS_exit_group, 2);
		}
		spend(work_of_parents, 20);
		reap(child, sums);
	}
}

struct forker {
	pthread_t thread;
	unsigned int count;
	struct sums sums;
};

static void *fork_in_thread(void *argument)
{
	struct forker *forker = argument;

	for (unsigned int i = 0; i < forker->count; i++) {
		const pid_t child = fork_or_die();

		if (child == 0) {
			spend(work_of_children, 2);
			_exit(1);
		}
		spend(work_of_parents, 2);
		reap(child, &forker->sums);
	}
	return NULL;
}

static void forks_of_threads(unsigned int count, struct sums *sums)
{
	struct forker forkers[FORKERS] = { { .count = 0 } };

	for (int i = 0; i < FORKERS; i++) {
		forkers[i].count = count / FORKERS;
		pthread_create(&forkers[i].thread, NULL, fork_in_thread, &forkers[i]);
	}
	for (int i = 0; i < FORKERS; i++) {
		pthread_join(forkers[i].thread, NULL);
		add(sums, &forkers[i].sums);
	}
}

static void *be_a_mayfly(void *argument)
{
	spend(work_of_children, 1);
	return argument;
}

static void threads(unsigned int count, struct sums *sums)
{
	static pthread_t mayflies[200];
	const unsigned int at_once = sizeof mayflies / sizeof *mayflies;

	for (unsigned int begun = 0; begun < count; begun += at_once) {
		for (unsigned int i = 0; i < at_once; i++)
			if (pthread_create(&mayflies[i], NULL, be_a_mayfly, NULL) != 0)
				abort();
		spend(work_of_parents, at_once);
		for (unsigned int i = 0; i < at_once; i++)
			sums->ended += pthread_join(mayflies[i], NULL) == 0;
	}
}

/* The pipe is closed when the last of those that inherited it has ended. */
static void wait_for_all(int read_end, struct sums *sums)
{
	char codes[64];
	ssize_t got;

	while ((got = read(read_end, codes, sizeof codes)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			sums->codes += (unsigned int)codes[i];
		sums->ended += (unsigned int)got;
	}
}

static void write_code(int write_end, char code)
{
	if (write(write_end, &code, 1) != 1)
		_exit(100);
}

static void orphans(unsigned int count, struct sums *sums)
{
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	for (unsigned int i = 0; i < count; i++) {
		const pid_t child = fork_or_die();

		if (child != 0) {
			reap(child, sums);
			continue;
		}
		if (setsid() < 0)
			_exit(100);
		if (fork_or_die() != 0)
			_exit(1);
		spend(work_of_children, 10);
		write_code(ends[1], 5);
		_exit(0);
	}
	close(ends[1]);
	spend(work_of_parents, 10 * count);
	wait_for_all(ends[0], sums);
}

static void daemons(unsigned int count, struct sums *sums)
{
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	for (unsigned int i = 0; i < count; i++) {
		const pid_t child = fork_or_die();

		if (child != 0) {
			reap(child, sums);
			continue;
		}
		if (daemon(0, 0) != 0)
			_exit(100);
		spend(work_of_children, 10);
		write_code(ends[1], 6);
		_exit(0);
	}
	close(ends[1]);
	spend(work_of_parents, 10 * count);
	wait_for_all(ends[0], sums);
}

/* What a parent did before is sent to another ring than what its child does after. */
static void alike(unsigned int count, struct sums *sums)
{
	spend(work_of_children, 100);
	for (volatile unsigned int i = 0; i < count; i++) {
		const pid_t child = fork_or_die();

		spend(work_of_children, 100);
		if (child == 0)
			_exit(0);
		reap(child, sums);
	}
}

static const struct way {
	const char *name;
	void (*make)(unsigned int count, struct sums *sums);
	unsigned int count;
} ways[] = {
	{ "exits", exits, 1000 },
	{ "execs", execs, 200 },
	{ "now and then", now_and_then, 500 },
	{ "vforks", vforks, 200 },
	{ "crowds", crowds, 64 },
	{ "clones", clones, 20 },
	{ "forks of threads", forks_of_threads, 200 },
	{ "threads", threads, 1000 },
	{ "orphans", orphans, 20 },
	{ "daemons", daemons, 20 },
	{ "alike", alike, 3 },
};

int main(int argc, char **argv)
{
	struct sums sums = { .ended = 0 };

	self_path = argv[0];
	if (argc == 1) {
		for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
			puts(ways[i].name);
		return 0;
	}
	if (strcmp(argv[1], "end with 3") == 0)
		return 3;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		ways[i].make(argc > 2 ? (unsigned int)atoi(argv[2]) : ways[i].count, &sums);
		printf("%u ended, codes %u, signals %u\n", sums.ended, sums.codes,
		       sums.signals);
		/* None is left. */
		return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 1;
	}
	fprintf(stderr, "masses: no such way: %s\n", argv[1]);
	return 2;
}
