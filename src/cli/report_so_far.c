#include "cli/report_so_far.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/say.h"

/* Runs between fork and exec: must not take locks. */
static _Noreturn void run_report(const char *path)
{
	char *const arguments[] = { (char *)"fathom", (char *)"report", (char *)"--no-pager",
				    (char *)"--",     (char *)path,     NULL };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getpriority(PRIO_PROCESS, 0) < 0)
		setpriority(PRIO_PROCESS, 0, 0);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execv("/proc/self/exe", arguments);
	_exit(EXIT_CODE_FAILED);
}

void report_so_far_start(const char *path)
{
	const pid_t pid = fork();

	if (pid < 0)
		say("cannot start a report of %s so far", path);
	if (pid == 0) {
		if (fork() == 0)
			run_report(path);
		_exit(EXIT_CODE_OK);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}
