/*
 * two_at_once - waits with two signals pending that the wait lets in, where the handler of the
 * first holds the second back: each wait is ended by one of them, for the second is blocked
 * again when the first handler returns.  Prints how many waits ran one handler, both, or none.
 *
 * usage: two_at_once ppoll|pselect|sigsuspend|syscall
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAITS 50000

static const struct timespec at_once;
static sigset_t none;
static volatile int first_runs, second_runs;

static void on_first(int signal)
{
	(void)signal;
	first_runs++;
	for (volatile int i = 0; i < 3000; i++)
		;
}

static void on_second(int signal)
{
	(void)signal;
	second_runs++;
}

static void handle(int signal, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigfillset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

static void wait_by_ppoll(void)
{
	ppoll(NULL, 0, &at_once, &none);
}

static void wait_by_pselect(void)
{
	pselect(0, NULL, NULL, NULL, &at_once, &none);
}

static void wait_by_sigsuspend(void)
{
	sigsuspend(&none);
}

static void wait_by_syscall(void)
{
	struct timespec timeout = at_once;

	syscall(SYS_ppoll, NULL, 0L, &timeout, &none, 8L);
}

static const struct {
	const char *name;
	void (*wait)(void);
} ways[] = {
	{ "ppoll", wait_by_ppoll },
	{ "pselect", wait_by_pselect },
	{ "sigsuspend", wait_by_sigsuspend },
	{ "syscall", wait_by_syscall },
};

static void run(void (*wait)(void))
{
	int runs[3] = { 0 };

	for (int i = 0; i < WAITS; i++) {
		first_runs = second_runs = 0;
		raise(SIGURG);
		raise(SIGWINCH);
		wait();
		runs[first_runs + second_runs]++;
		while (first_runs + second_runs < 2)
			wait();
	}
	printf("{\"none\": %d, \"one\": %d, \"both\": %d}\n", runs[0], runs[1], runs[2]);
}

int main(int argc, char **argv)
{
	sigset_t all;

	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &all, NULL);
	handle(SIGURG, on_first);
	handle(SIGWINCH, on_second);
	for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof ways[0]; i++) {
		if (strcmp(argv[1], ways[i].name) == 0) {
			run(ways[i].wait);
			return 0;
		}
	}
	return 2;
}
