/*
 * test_every_instruction - the walker is right at every instruction of a busy program.
 *
 *	test_every_instruction			the workloads, in this process
 *	test_every_instruction LIB N CMD ARGS…	the first N instructions of another program,
 *						from LIB's constructor (trap_walk_early) on
 */
#include "trap_walk.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void workload_O0(void);
void workload_O1_frame_pointer(void);
void workload_O2(void);
void workload_O3_avx2(void);
void workload_Os(void);
void workload_cpp(void);
void workload_cpp_frame_pointer(void);

static volatile int handled;

static __attribute__((noinline)) int work_in_handler(int n)
{
	return n == 0 ? 1 : work_in_handler(n - 1) + handled;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	char text[40];

	(void)info;
	trap_walk_in_handler(context);
	handled += work_in_handler(2);
	if (number != SIGALRM)
		snprintf(text, sizeof text, "signal %d", number);
}

static void catch_signals(void)
{
	static char space[65536];
	stack_t stack = { .ss_sp = space, .ss_size = sizeof space };
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGALRM);
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags |= SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	sigaltstack(&stack, NULL);
	trap_walk_add_stack(space, sizeof space);
}

typedef void routine(void);

static const struct {
	const char *name;
	routine *run;
} workloads[] = {
	{ "-O0", workload_O0 },  { "-O1 with frame pointers", workload_O1_frame_pointer },
	{ "-O2", workload_O2 },  { "-O3 -mavx2", workload_O3_avx2 },
	{ "-Os", workload_Os },
#ifdef HAS_CPP
	{ "C++", workload_cpp }, { "C++ with frame pointers", workload_cpp_frame_pointer },
#endif
};
#define WORKLOADS (sizeof workloads / sizeof workloads[0])

static int print_result(const char *name, const struct trap_walk_result *r, uint64_t at_least)
{
	uint64_t excused = r->excused_eh_return + r->excused_entry + r->excused_longjmp;

	printf("%s: %lu instructions, %lu stacks right, %lu wrong; %lu on the way to a landing "
	       "pad, %lu in ld.so's entry, %lu in longjmp; %lu under a signal handler; %.1f "
	       "frames, %u at most\n",
	       name, r->instructions, r->right, r->wrong, r->excused_eh_return,
	       r->excused_entry, r->excused_longjmp, r->signal_frames,
	       (double)r->frames / (double)(r->instructions ? r->instructions : 1), r->deepest);
	return r->wrong == 0 && r->instructions >= at_least && excused * 40 <= r->instructions;
}

static int has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static __attribute__((noinline)) void walk_one(routine *run)
{
	trap_walk_start();
	run();
	trap_walk_stop();
}

static int walk_workloads(void)
{
	struct trap_walk_result result;
	int ok = 1;

	for (size_t i = 0; i < WORKLOADS; i++) {
		if (workloads[i].run == workload_O3_avx2 && !has_avx2()) {
			printf("%s: skipped: this processor has no AVX2\n", workloads[i].name);
			continue;
		}
		memset(&result, 0, sizeof result);
		trap_walk_init(&result);
		/* A prime, so that the signals come in all kinds of places. */
		trap_walk_set_signal_every(101);
		walk_one(workloads[i].run);
		trap_walk_set_signal_every(0);
		ok &= print_result(workloads[i].name, &result, 20000);
	}
	return ok;
}

static void little(void)
{
	handled += work_in_handler(20);
}

/* A signal before each instruction: there is no place where one harms the test itself. */
static int walk_between_signals(void)
{
	struct trap_walk_result result = { 0 };

	trap_walk_init(&result);
	trap_walk_set_signal_every(1);
	walk_one(little);
	trap_walk_set_signal_every(0);
	return print_result("a signal before each instruction", &result, 5000);
}

/* The thread's stack is this one; it must not be found in the main thread's. */
static void *in_thread(void *space)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };

	(void)space;
	sigaltstack(&stack, NULL);
	trap_walk_add_stack(stack.ss_sp, stack.ss_size);
	walk_one(workload_O2);
	return NULL;
}

static int walk_thread(void)
{
	const size_t len = 1 << 20;
	struct trap_walk_result result = { 0 };
	pthread_attr_t attr;
	pthread_t thread;
	void *space =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	trap_walk_init(&result);
	trap_walk_add_stack(space, len);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, space, len);
	if (pthread_create(&thread, &attr, in_thread, NULL) != 0)
		return 0;
	pthread_join(thread, NULL);
	return print_result("a thread", &result, 20000);
}

/* Another program, with the library whose constructor begins to walk. */
static int walk_program(const char *library, const char *limit, char **command)
{
	char fd_text[16];
	int status;
	int fd = memfd_create("result", 0);
	struct trap_walk_result *result;

	if (fd < 0 || ftruncate(fd, sizeof *result) < 0)
		return 0;
	result = mmap(NULL, sizeof *result, PROT_READ, MAP_SHARED, fd, 0);
	snprintf(fd_text, sizeof fd_text, "%d", fd);
	pid_t pid = fork();
	if (pid == 0) {
		setenv("TRAP_WALK_FD", fd_text, 1);
		setenv("TRAP_WALK_LIMIT", limit, 1);
		setenv("LD_PRELOAD", library, 1);
		if (freopen("/dev/null", "w", stdout) == NULL)
			_exit(126);
		execvp(command[0], command);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		printf("%s: skipped: not on this machine\n", command[0]);
		return 1;
	}
	if (status != 0)
		printf("%s ended with status %#x\n", command[0], (unsigned)status);
	return status == 0 && print_result(command[0], result, 20000);
}

int main(int argc, char **argv)
{
	int ok;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 3)
		return walk_program(argv[1], argv[2], argv + 3) ? 0 : 1;
	catch_signals();
	ok = walk_workloads();
	ok &= walk_between_signals();
	ok &= walk_thread();
	return ok ? 0 : 1;
}
