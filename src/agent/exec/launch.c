/*
 * launch - interposes posix_spawn(), also for system() and popen(): with the agent preloaded.
 *
 * libc's functions do not call our exec, so the environment is made before they are called.  The
 * child is a vfork child of libc's: no event of ours is on it, so no trap can come late.
 */
#include "agent/exec/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/core/environment.h"
#include "agent/core/mechanism.h"
#include "agent/exec/environment_copy.h"
#include "agent/exec/interposed.h"
#include "agent/exec/next_image.h"
#include "agent/exec/search.h"

/* By our sigaction() where SIGTRAP is ours: what the program, or in a vfork child that, set. */
bool launch_ignores_trap(void)
{
	struct sigaction now;

	return sigaction(SIGTRAP, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* Whether the child is to ignore SIGTRAP: an attribute may set the default. */
static bool is_trap_ignored_for(const posix_spawnattr_t *attributes)
{
	sigset_t defaults;
	short flags = 0;

	if (attributes != NULL && posix_spawnattr_getflags(attributes, &flags) == 0 &&
	    (flags & POSIX_SPAWN_SETSIGDEF) &&
	    posix_spawnattr_getsigdefault(attributes, &defaults) == 0 &&
	    sigismember(&defaults, SIGTRAP) == 1)
		return false;
	return launch_ignores_trap();
}

struct candidate {
	const struct launch *call;
	struct next_image *image;
};

static int judge_candidate(void *context, const char *path)
{
	const struct candidate *candidate = context;
	char *const *argv = candidate->call->argv;

	/* The first file in PATH that may be executed is the one that will be. */
	if (candidate->call->is_search && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -errno;
	next_image_judge(
		&(struct next_image_path){
			.folder = AT_FDCWD,
			.path = path,
			.first_argument = argv[0] != NULL ? argv[1] : NULL,
			.agent_path = environment_agent_path(),
		},
		candidate->image);
	return candidate->image->answer.kind == PROGRAM_MISSING ? -ENOENT : 0;
}

/* Where file actions change the folder, a relative path means another file: that is not judged. */
static bool is_enterable(const struct launch *call, struct next_image *out_image)
{
	struct candidate candidate = { .call = call, .image = out_image };

	if (!environment_may_enter())
		return false;
	out_image->answer.kind = PROGRAM_MISSING;
	if (call->is_search)
		search_path(call->path, judge_candidate, &candidate);
	else
		judge_candidate(&candidate, call->path);
	return out_image->answer.kind == PROGRAM_ENTERABLE;
}

/* libc's child shares memory with its parent, errno too: errno is left as libc leaves it. */
static int pass_on(const struct launch *call, pid_t *out_pid, char *const *environment,
		   int *in_out_errno)
{
	struct signals_shown shown = { 0 };

	MECHANISMS_DO(show_signals, (false, &shown));
	errno = *in_out_errno;
	const int rc = (call->is_search ? HOOK_NEXT(posix_spawnp) : HOOK_NEXT(posix_spawn))(
		out_pid, call->path, call->actions, call->attributes, call->argv, environment);

	*in_out_errno = errno;
	MECHANISMS_DO(hide_signals, (&shown));
	return rc;
}

int launch(const struct launch *call, pid_t *out_pid)
{
	struct environment_copy copy;
	struct next_image judged;
	int their_errno = errno;
	int rc;

	if (is_enterable(call, &judged) &&
	    environment_copy(&copy, call->environment, call->argv, &judged,
			     is_trap_ignored_for(call->attributes))) {
		rc = pass_on(call, out_pid, copy.entries, &their_errno);
		environment_copy_done(&copy);
	} else {
		rc = pass_on(call, out_pid, call->environment, &their_errno);
	}
	errno = their_errno;
	return rc;
}

AGENT_EXPORT int posix_spawn(pid_t *pid, const char *path,
			     const posix_spawn_file_actions_t *actions,
			     const posix_spawnattr_t *attributes, char *const argv[],
			     char *const environment[])
{
	return launch(&(struct launch){ .path = path,
					.actions = actions,
					.attributes = attributes,
					.argv = argv,
					.environment = environment },
		      pid);
}

AGENT_EXPORT int posix_spawnp(pid_t *pid, const char *file,
			      const posix_spawn_file_actions_t *actions,
			      const posix_spawnattr_t *attributes, char *const argv[],
			      char *const environment[])
{
	return launch(&(struct launch){ .path = file,
					.is_search = true,
					.actions = actions,
					.attributes = attributes,
					.argv = argv,
					.environment = environment },
		      pid);
}

pid_t launch_wait(pid_t pid, int *out_status)
{
	pid_t waited;

	do {
		waited = waitpid(pid, out_status, 0);
	} while (waited < 0 && errno == EINTR);
	return waited;
}

int launch_shell(const char *command, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, pid_t *out_pid)
{
	char *const argv[] = { (char *)(unsigned long)"sh", (char *)(unsigned long)"-c",
			       (char *)(unsigned long)command, NULL };

	return launch(&(struct launch){ .path = "/bin/sh",
					.actions = actions,
					.attributes = attributes,
					.argv = argv,
					.environment = environ },
		      out_pid);
}
