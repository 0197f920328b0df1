/*
 * system - implements system(3), since libc's starts its shell without calling our functions.
 *
 * It behaves as libc's: SIGCHLD is blocked meanwhile, SIGINT and SIGQUIT are
 * ignored for as long as any thread is in here, a thread that is cancelled kills its shell.
 * (sysdeps/posix/system.c, glibc 2.38: before, SIGCHLD stayed blocked in all but the last of
 * several threads, glibc bug 30163.)
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "agent/core/agent_state.h"
#include "agent/core/environment.h"
#include "agent/exec/interposed.h"
#include "agent/exec/launch.h"

static struct {
	pthread_mutex_t lock;
	unsigned int callers;
	struct sigaction interrupt, quit; /* the program's, while there are callers */
} system_calls AGENT_STATE = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct system_call {
	pid_t pid;
	sigset_t mask; /* the caller's */
	bool ignores_interrupt, ignores_quit;
};

AGENT_START void system_forget(void)
{
	pthread_mutex_init(&system_calls.lock, NULL);
}

static void begin(struct system_call *call)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	pthread_mutex_lock(&system_calls.lock);
	if (system_calls.callers++ == 0) {
		sigaction(SIGINT, &ignore, &system_calls.interrupt);
		sigaction(SIGQUIT, &ignore, &system_calls.quit);
	}
	call->ignores_interrupt = system_calls.interrupt.sa_handler == SIG_IGN;
	call->ignores_quit = system_calls.quit.sa_handler == SIG_IGN;
	pthread_mutex_unlock(&system_calls.lock);
	sigaddset(&ignore.sa_mask, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &ignore.sa_mask, &call->mask);
}

static void end(const struct system_call *call)
{
	pthread_mutex_lock(&system_calls.lock);
	if (--system_calls.callers == 0) {
		sigaction(SIGINT, &system_calls.interrupt, NULL);
		sigaction(SIGQUIT, &system_calls.quit, NULL);
	}
	pthread_mutex_unlock(&system_calls.lock);
	pthread_sigmask(SIG_SETMASK, &call->mask, NULL);
}

static int start_shell(const char *command, struct system_call *call)
{
	posix_spawnattr_t attributes;
	sigset_t defaults;

	sigemptyset(&defaults);
	if (!call->ignores_interrupt)
		sigaddset(&defaults, SIGINT);
	if (!call->ignores_quit)
		sigaddset(&defaults, SIGQUIT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &call->mask);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	const int rc = launch_shell(command, NULL, &attributes, &call->pid);

	posix_spawnattr_destroy(&attributes);
	return rc;
}

static void cancelled(void *context)
{
	const struct system_call *call = context;
	int before;

	kill(call->pid, SIGKILL);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	launch_wait(call->pid, NULL);
	pthread_setcancelstate(before, NULL);
	end(call);
}

static int run(const char *command)
{
	struct system_call call;
	int status = -1;

	begin(&call);
	const int failure = start_shell(command, &call);

	if (failure != 0) {
		/* POSIX: as if a shell had been started and had exited with 127. */
		status = 127 << 8;
	} else {
		pthread_cleanup_push(cancelled, &call);
		if (launch_wait(call.pid, &status) != call.pid)
			status = -1;
		pthread_cleanup_pop(0);
	}
	end(&call);
	if (failure != 0)
		errno = failure;
	return status;
}

AGENT_EXPORT int system(const char *command)
{
	if (environment_socket() == NULL)
		return HOOK_NEXT(system)(command);
	return command != NULL ? run(command) : run("exit 0") == 0;
}
