#include "collect/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "base/error.h"
#include "base/memory.h"
#include "collect/allowance.h"

#define EXIT_OURS 125

/* In the child: the environment the agent needs, then the command. */
static void command_exec(char *const *argv, const struct command_environment *environment)
{
	const char *others = getenv("LD_PRELOAD");
	CLEANUP(freep)
	char *preload = others != NULL && others[0] != '\0'
				? xasprintf("%s:%s", environment->agent_path, others)
				: xstrdup(environment->agent_path);

	setenv("LD_PRELOAD", preload, 1);
	setenv(HANDSHAKE_SOCKET_VARIABLE, environment->socket_path, 1);
	sigprocmask(SIG_SETMASK, &environment->signal_mask, NULL);
	if (environment->allowance != NULL)
		allowance_give_back(environment->allowance);
	execvp(argv[0], argv);
}

static void command_child(char *const *argv, const struct command_environment *environment,
			  int go_fd, int result_fd)
{
	char go;

	if (read(go_fd, &go, 1) == 1)
		command_exec(argv, environment);
	int failure = errno;

	if (write(result_fd, &failure, sizeof failure) != (ssize_t)sizeof failure)
		_exit(EXIT_OURS);
	_exit(EXIT_OURS);
}

int command_start(char *const *argv, const struct command_environment *environment,
		  struct command *out_command, struct error *err)
{
	int go[2], result[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "cannot start %s", argv[0]);
	if (pipe2(result, O_CLOEXEC) < 0) {
		int rc = error_errno(err, -errno, "cannot start %s", argv[0]);

		close(go[0]);
		close(go[1]);
		return rc;
	}
	pid_t pid = fork();

	if (pid == 0) {
		close(go[1]);
		command_child(argv, environment, go[0], result[1]);
	}
	int fork_errno = errno;

	close(go[0]);
	close(result[1]);
	if (pid < 0) {
		close(go[1]);
		close(result[0]);
		return error_errno(err, -fork_errno, "cannot start %s", argv[0]);
	}
	*out_command = (struct command){ pid, go[1], result[0] };
	return 0;
}

static int command_explain(const char *name, int failure, enum session_failure *out_failure,
			   struct error *err)
{
	*out_failure = failure == ENOENT || failure == ENOTDIR ? SESSION_FAILURE_NOT_FOUND
							       : SESSION_FAILURE_NOT_EXECUTABLE;
	if (failure == ENOENT && strchr(name, '/') == NULL)
		return error_set(err, -failure, "cannot run %s: no such command in PATH", name);
	return error_errno(err, -failure, "cannot run %s", name);
}

int command_go(struct command *command, const char *name, enum session_failure *out_failure,
	       struct error *err)
{
	int failure = 0;
	ssize_t got;
	ssize_t sent = write(command->go_fd, "g", 1);

	close(command->go_fd);
	do {
		got = sent == 1 ? read(command->result_fd, &failure, sizeof failure) : 0;
	} while (got < 0 && errno == EINTR);
	close(command->result_fd);
	if (got != (ssize_t)sizeof failure)
		return 0;
	waitpid(command->pid, NULL, 0);
	return command_explain(name, failure, out_failure, err);
}

void command_abandon(struct command *command)
{
	close(command->go_fd);
	close(command->result_fd);
	waitpid(command->pid, NULL, 0);
}
