/*
 * endings - computes for a while in several threads and ends in one of the ways there are:
 * endings HOW [MS].  Without HOW it lists them.
 */
#include "truth.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COMPUTING 2

static volatile uint64_t sink;
static char *self_path;

KEEP static uint64_t work_before_the_end(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t work_after_the_exec(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

static void spend(uint64_t (*work)(uint64_t), uint64_t budget_ns)
{
	const uint64_t begin = truth_thread_cpu_ns();

	while (truth_thread_cpu_ns() - begin < budget_ns)
		sink = work(100000);
}

static void *compute_for_ever(void *argument)
{
	while (argument != NULL)
		sink = work_before_the_end(100000);
	return NULL;
}

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(2);
}

KEEP static void crash_here(volatile int *nowhere)
{
	*nowhere = 1;
}

static void end_by_fault(void)
{
	crash_here(NULL);
}

static volatile uint64_t deepest = UINT64_MAX;

KEEP static uint64_t fall_deeper(uint64_t depth)
{
	volatile char room[512];

	room[depth % sizeof room] = 1;
	return depth == deepest ? 0 : fall_deeper(depth + 1) + (uint64_t)room[0];
}

static void end_by_overflow(void)
{
	sink = fall_deeper(0);
}

static void on_overflow(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	say(number == SIGSEGV ? "overflow\n" : "another signal\n");
	_exit(9);
}

static void end_by_handled_overflow(void)
{
	static char room[1 << 16];
	const stack_t stack = { .ss_sp = room, .ss_size = sizeof room };
	const struct sigaction action = { .sa_sigaction = on_overflow,
					  .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sink = fall_deeper(0);
}

static void end_by_signal(void)
{
	kill(getpid(), SIGUSR1);
	for (;;)
		pause();
}

static void end_by_kill(void)
{
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

static void end_by_fork_and_signal(void)
{
	if (fork() == 0) {
		spend(work_before_the_end, 20000000);
		_exit(0);
	}
	end_by_signal();
}

static void end_by_exit_group(void)
{
	syscall(SYS_exit_group, 6);
}

static void end_by_quick_exit(void)
{
	_exit(5);
}

static void end_by_exec(void)
{
	execl(self_path, self_path, "after the exec", (char *)NULL);
	_exit(2);
}

/* The main thread ends first, and the process with the last of the others. */
static void *outlive_main(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	spend(work_before_the_end, 50000000);
	say("last\n");
	_exit(4);
}

static void end_main_first(void)
{
	static pthread_t main_thread, thread;

	main_thread = pthread_self();
	if (pthread_create(&thread, NULL, outlive_main, &main_thread) == 0)
		pthread_exit(NULL);
}

static const struct ending {
	const char *name;
	void (*end)(void);
	int is_of_a_thread; /* another than the main one does it */
} endings[] = {
	{ "fault", end_by_fault, 0 },
	{ "fault of a thread", end_by_fault, 1 },
	{ "abort", abort, 0 },
	{ "abort of a thread", abort, 1 },
	{ "quick exit", end_by_quick_exit, 0 },
	{ "exit group of a thread", end_by_exit_group, 1 },
	{ "exec", end_by_exec, 0 },
	{ "exec of a thread", end_by_exec, 1 },
	{ "overflow", end_by_overflow, 0 },
	{ "overflow of a thread", end_by_overflow, 1 },
	{ "handled overflow", end_by_handled_overflow, 0 },
	{ "handled overflow of a thread", end_by_handled_overflow, 1 },
	{ "signal", end_by_signal, 0 },
	{ "signal of a thread", end_by_signal, 1 },
	{ "signal beside a child", end_by_fork_and_signal, 0 },
	{ "kill", end_by_kill, 1 },
	{ "main first", end_main_first, 0 },
};

static uint64_t budget_ns = 50000000;

static void *do_end(void *argument)
{
	const struct ending *ending = argument;

	spend(work_before_the_end, budget_ns);
	say("ending\n");
	ending->end();
	return NULL;
}

static int run(const struct ending *ending)
{
	pthread_t threads[COMPUTING], ender;

	if (strcmp(ending->name, "main first") != 0) {
		for (int i = 0; i < COMPUTING; i++)
			pthread_create(&threads[i], NULL, compute_for_ever, &threads);
	}
	if (!ending->is_of_a_thread) {
		do_end((void *)(uintptr_t)ending);
		return 3;
	}
	pthread_create(&ender, NULL, do_end, (void *)(uintptr_t)ending);
	pthread_join(ender, NULL);
	return 3;
}

int main(int argc, char **argv)
{
	self_path = argv[0];
	if (argc == 1) {
		for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
			puts(endings[i].name);
		return 0;
	}
	if (strcmp(argv[1], "after the exec") == 0) {
		spend(work_after_the_exec, budget_ns);
		say("after\n");
		return 8;
	}
	if (argc > 2)
		budget_ns = strtoull(argv[2], NULL, 10) * 1000000;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		if (strcmp(argv[1], endings[i].name) == 0)
			return run(&endings[i]);
	}
	fprintf(stderr, "endings: no such ending: %s\n", argv[1]);
	return 2;
}
