#include "cli/run_once.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/record_once.h"
#include "cli/say.h"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static sigset_t held(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		sigaddset(&set, ending[i]);
	return set;
}

void run_signals_hold(struct run_signals *signals)
{
	const sigset_t set = held();

	*signals = (struct run_signals){ 0 };
	sigprocmask(SIG_BLOCK, &set, &signals->before);
}

/*
 * The terminal sends signals to all its processes (si_code positive: signal(7)); other senders
 * only to us, so these are forwarded.
 */
static void take(struct run_signals *signals, const siginfo_t *info, pid_t child)
{
	if (info->si_signo == SIGCHLD)
		return;
	signals->has_stop = true;
	signals->stop = info->si_signo;
	if (info->si_code <= 0 && child > 0)
		kill(child, info->si_signo);
}

static void take_pending(struct run_signals *signals)
{
	const sigset_t set = held();
	siginfo_t info;

	while (sigtimedwait(&set, &info, &(struct timespec){ 0 }) > 0)
		take(signals, &info, 0);
}

void run_signals_release(struct run_signals *signals)
{
	take_pending(signals);
	sigprocmask(SIG_SETMASK, &signals->before, NULL);
}

static int run_child(struct record_settings *settings, const struct run_signals *signals)
{
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	sigprocmask(SIG_SETMASK, &signals->before, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
	    dup2(nothing, STDOUT_FILENO) < 0) {
		say("record: cannot open /dev/null: %s", strerror(errno));
		return EXIT_CODE_NOT_STARTED;
	}
	return record_once(settings);
}

int run_once(struct record_settings *settings, struct run_signals *signals)
{
	const sigset_t set = held();
	const pid_t child = fork();
	int status = 0;

	if (child < 0) {
		say("record: cannot start a run: %s", strerror(errno));
		return EXIT_CODE_NOT_STARTED;
	}
	if (child == 0)
		_exit(run_child(settings, signals));
	while (waitpid(child, &status, WNOHANG) != child) {
		siginfo_t info;

		if (sigwaitinfo(&set, &info) > 0)
			take(signals, &info, child);
	}
	take_pending(signals);
	return WIFSIGNALED(status) ? EXIT_CODE_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
