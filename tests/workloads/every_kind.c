/*
 * every_kind LIBRARY - system calls of every kind, each many times, and always as many.
 *
 * What a profiler adds to a kind is then a number that stands out.  It computes in between, so
 * that there is something to sample.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "truth.h"

#define OFTEN  1000
#define SELDOM 10

extern char **environ;

static const char *library;
static volatile sig_atomic_t handled;

static void must(int is_right)
{
	if (!is_right)
		abort();
}

KEEP static void compute(unsigned turn)
{
	uint64_t sum = 0;

	for (uint64_t i = truth_vary(turn, 20000, 40000); i > 0; i--) {
		sum += i;
		__asm__ volatile("" : "+r"(sum));
	}
}

static void on_signal(int number)
{
	handled += number;
}

/* ---- often ---- */

static void set_actions(unsigned turn)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	must(sigaction(turn % 2 ? SIGUSR1 : SIGUSR2, &action, NULL) == 0);
	must(signal(SIGHUP, on_signal) != SIG_ERR);
}

static void take_signals(unsigned turn)
{
	(void)turn;
	must(raise(SIGUSR1) == 0);
	must(kill(getpid(), SIGUSR2) == 0);
}

static void change_masks(unsigned turn)
{
	sigset_t some, all, before;

	sigemptyset(&some);
	sigaddset(&some, SIGUSR1);
	if (turn % 2)
		sigaddset(&some, SIGTRAP);
	sigfillset(&all);
	must(sigprocmask(SIG_BLOCK, &some, &before) == 0);
	must(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
	must(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

static void wait_for_signals(unsigned turn)
{
	const struct timespec limit = { .tv_sec = 10 };
	sigset_t set, before;

	(void)turn;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	must(sigprocmask(SIG_BLOCK, &set, &before) == 0);
	must(raise(SIGUSR1) == 0);
	must(sigtimedwait(&set, NULL, &limit) == SIGUSR1);
	must(raise(SIGUSR1) == 0);
	sigsuspend(&before);
	must(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
}

static void poll_with_masks(unsigned turn)
{
	const struct timespec at_once = { 0 };
	struct epoll_event event;
	sigset_t set;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	(void)turn;
	sigfillset(&set);
	must(epoll >= 0);
	must(ppoll(NULL, 0, &at_once, &set) == 0);
	must(pselect(0, NULL, NULL, NULL, &at_once, &set) == 0);
	must(epoll_pwait(epoll, &event, 1, 0, &set) == 0);
	sigdelset(&set, SIGTRAP);
	int fd = signalfd(-1, &set, SFD_CLOEXEC);
	must(fd >= 0);
	close(fd);
	close(epoll);
}

static void change_stacks(unsigned turn)
{
	static char space[1 << 16];
	const stack_t stack = { .ss_sp = space, .ss_size = sizeof space };
	const stack_t none = { .ss_flags = SS_DISABLE };

	must(sigaltstack(turn % 2 ? &none : &stack, NULL) == 0);
}

static void use_files(unsigned turn)
{
	struct stat status;
	char text[100];
	int ends[2];
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);

	(void)turn;
	must(fd >= 0 && read(fd, text, sizeof text) > 0 && fstat(fd, &status) == 0);
	must(lseek(fd, 0, SEEK_SET) == 0 && pipe(ends) == 0);
	must(write(ends[1], text, 5) == 5 && read(ends[0], text, 5) == 5);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

static void allocate(unsigned turn)
{
	void *blocks[20];

	for (size_t i = 0; i < 20; i++)
		blocks[i] = malloc(truth_vary(turn + (unsigned)i, 1, 20000));
	for (size_t i = 0; i < 20; i++)
		free(blocks[i]);
}

static void change_environment(unsigned turn)
{
	(void)turn;
	must(setenv("EVERY_KIND", "1", 1) == 0 && unsetenv("EVERY_KIND") == 0);
}

/* ---- seldom ---- */

static void sleep_a_little(unsigned turn)
{
	const struct timespec little = { .tv_nsec = 100000 };

	(void)turn;
	must(nanosleep(&little, NULL) == 0 && usleep(100) == 0);
	must(clock_nanosleep(CLOCK_MONOTONIC, 0, &little, NULL) == 0);
	must(poll(NULL, 0, 1) == 0);
}

static void *compute_in_thread(void *argument)
{
	compute(1);
	return argument;
}

static void start_threads(unsigned turn)
{
	pthread_t thread;

	(void)turn;
	must(pthread_create(&thread, NULL, compute_in_thread, NULL) == 0);
	must(pthread_join(thread, NULL) == 0);
}

static void wait_for(pid_t pid)
{
	int status;

	must(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

static void fork_children(unsigned turn)
{
	pid_t pid = fork();

	if (pid == 0) {
		compute(turn);
		_exit(0);
	}
	wait_for(pid);
	pid = fork();
	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	wait_for(pid);
	pid = vfork();
	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	wait_for(pid);
}

static void spawn_children(unsigned turn)
{
	char *const arguments[] = { (char *)"true", NULL };
	pid_t pid;
	FILE *pipe_of;

	(void)turn;
	must(posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ) == 0);
	wait_for(pid);
	must(posix_spawnp(&pid, "true", NULL, NULL, arguments, environ) == 0);
	wait_for(pid);
	must(system("exit 0") == 0);
	pipe_of = popen("exit 0", "r");
	must(pipe_of != NULL && pclose(pipe_of) == 0);
}

static void load_libraries(unsigned turn)
{
	void *handle = dlopen(library, RTLD_NOW);

	(void)turn;
	must(handle != NULL && dlclose(handle) == 0);
}

static const struct {
	void (*run)(unsigned turn);
	unsigned turns;
} kinds[] = {
	{ set_actions, OFTEN },        { take_signals, OFTEN },
	{ change_masks, OFTEN },       { wait_for_signals, OFTEN },
	{ poll_with_masks, OFTEN },    { change_stacks, OFTEN },
	{ use_files, OFTEN },          { allocate, OFTEN },
	{ change_environment, OFTEN }, { sleep_a_little, SELDOM },
	{ start_threads, SELDOM },     { fork_children, SELDOM },
	{ spawn_children, SELDOM },    { load_libraries, SELDOM * 5 },
};

int main(int argc, char **argv)
{
	must(argc == 2);
	library = argv[1];
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		compute((unsigned)i);
		for (unsigned turn = 0; turn < kinds[i].turns; turn++) {
			kinds[i].run(turn);
			if (turn % 10 == 0)
				compute(turn);
		}
	}
	return handled > 0 ? 0 : 1;
}
