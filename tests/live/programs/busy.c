/*
 * A program that does a little of everything that sanitizers, allocators and loaders stand
 * before: threads, memory, signals, an alternate stack, fork, exec.  Says what it saw, and ends
 * with 3.
 *
 * usage: busy [WORK]
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4

static atomic_int signals;
static int work = 300;

static void on_signal(int signal)
{
	(void)signal;
	atomic_fetch_add(&signals, 1);
}

/* Long enough for some samples, with memory that comes and goes. */
__attribute__((noinline)) unsigned long busy_work(unsigned long seed)
{
	for (int turn = 0; turn < work; turn++) {
		char *memory = malloc(100 + seed % 1000);

		memset(memory, (int)seed, 100);
		for (int i = 0; i < 5000; i++)
			seed = seed * 6364136223846793005UL + (unsigned char)memory[i % 100];
		free(memory);
	}
	return seed;
}

static void *thread(void *argument)
{
	unsigned long *seed = argument;

	*seed = busy_work(*seed);
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];
	unsigned long seeds[THREADS], sum = 0;

	for (int i = 0; i < THREADS; i++) {
		seeds[i] = (unsigned long)i;
		if (pthread_create(&threads[i], NULL, thread, &seeds[i]) != 0)
			exit(1);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += seeds[i];
	}
	printf("threads: %lu\n", sum);
}

static void take_signals(void)
{
	static char stack[64 * 1024];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK }, old;
	sigset_t all, before, pending;

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 50; i++) {
		kill(getpid(), SIGUSR1);
		busy_work(1);
	}
	sigaction(SIGTRAP, &action, NULL);
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &old);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	raise(SIGTRAP);
	sigpending(&pending);
	printf("signals: %d, SIGTRAP %s, pending %d, blocked before %d\n",
	       atomic_load(&signals), old.sa_handler == on_signal ? "ours" : "not ours",
	       sigismember(&pending, SIGTRAP), sigismember(&before, SIGTRAP));
	sigprocmask(SIG_SETMASK, &before, NULL);
	printf("signals: %d\n", atomic_load(&signals));
	signal(SIGTRAP, SIG_DFL);
}

static void have_children(const char *self)
{
	char number[12];
	int status = 0;

	snprintf(number, sizeof number, "%d", work / 10);
	for (int i = 0; i < 5; i++) {
		fflush(NULL);
		const pid_t pid = fork();

		if (pid == 0) {
			busy_work(7);
			_exit(i);
		}
		waitpid(pid, &status, 0);
		printf("fork: %d\n", WEXITSTATUS(status));
	}
	const pid_t pid = fork();

	if (pid == 0) {
		execl(self, self, number, "child", (char *)NULL);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	printf("exec: %#x\n", (unsigned)status);
	fflush(NULL);
	status = system("echo a shell; exit 4");
	printf("system: %#x\n", (unsigned)status);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		work = atoi(argv[1]);
	run_threads();
	take_signals();
	if (argc > 2)
		return 5;
	have_children(argv[0]);
	return 3;
}
