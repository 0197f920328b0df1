/*
 * signals - prints the name of each signal it gets, at once; ends with code 7 after
 * SIGTERM.  With "--quiet-term" SIGTERM keeps its default.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	int number;
	const char *line;
} known[] = {
	{ SIGTERM, "TERM\n" }, { SIGHUP, "HUP\n" },   { SIGINT, "INT\n" },
	{ SIGQUIT, "QUIT\n" }, { SIGUSR2, "USR2\n" }, { SIGCONT, "CONT\n" },
};

static volatile sig_atomic_t is_over;

static void report(int number)
{
	for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].number == number &&
		    write(STDOUT_FILENO, known[i].line, strlen(known[i].line)) < 0)
			_exit(2);
	if (number == SIGTERM)
		is_over = 1;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = report, .sa_flags = SA_RESTART };
	sigset_t term, before;

	sigfillset(&action.sa_mask);
	for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
		if (argc < 2 || known[i].number != SIGTERM)
			sigaction(known[i].number, &action, NULL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	if (write(STDOUT_FILENO, "READY\n", 6) != 6)
		return 2;
	while (!is_over)
		sigsuspend(&before);
	(void)argv;
	return 7;
}
