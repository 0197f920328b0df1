#include "collect/system/signal_forwarding.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"

static const int forwarded[] = { SIGTERM, SIGHUP, SIGQUIT, SIGINT, SIGUSR2 };

int signal_forwarding_open(struct signal_forwarding *forward, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
		sigaddset(&set, forwarded[i]);
	sigprocmask(SIG_BLOCK, &set, &forward->mask_before);
	forward->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (forward->fd < 0) {
		int rc = error_errno(err, -errno, "cannot watch for signals");

		sigprocmask(SIG_SETMASK, &forward->mask_before, NULL);
		return rc;
	}
	return 0;
}

void signal_forwarding_close(struct signal_forwarding *forward)
{
	signal_forwarding_take(forward, 0);
	close(forward->fd);
	sigprocmask(SIG_SETMASK, &forward->mask_before, NULL);
}

static bool is_forwarded(int signal)
{
	for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++) {
		if (forwarded[i] == signal)
			return true;
	}
	return false;
}

bool signal_forwarding_take(struct signal_forwarding *forward, pid_t pid)
{
	struct signalfd_siginfo info;
	bool has_child = false;

	while (read(forward->fd, &info, sizeof info) == (ssize_t)sizeof info) {
		const int signal = (int)info.ssi_signo;

		if (signal == SIGCHLD)
			has_child = true;
		else if (signal != SIGUSR1 && signal != SIGUSR2)
			forward->has_stop = true;
		if (signal == SIGUSR1)
			forward->has_usr1 = true;
		/*
		 * Signals that the kernel sends for a terminal have a positive si_code
		 * (sigaction(2)).
		 */
		else if (is_forwarded(signal) && info.ssi_code <= 0 && pid > 0)
			kill(pid, signal);
	}
	return has_child;
}
