#include "collect/session/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/environment.h"
#include "base/error.h"
#include "base/memory.h"
#include "collect/system/own_limits.h"
#include "target/program.h"

#define EXIT_OURS 125

/* Finds the file that execvp() will run: the first in PATH that may be executed. */
static const char *command_find(const char *name)
{
	const char *folders = getenv("PATH");

	if (strchr(name, '/') != NULL)
		return xstrdup(name);
	for (const char *folder = folders != NULL ? folders : "/bin:/usr/bin";; folder++) {
		const int bytes = (int)strcspn(folder, ":");
		CLEANUP(freep)
		char *path = xasprintf("%.*s%s%s", bytes, folder, bytes > 0 ? "/" : "", name);

		if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
			return xstrdup(path);
		folder += bytes;
		if (*folder == '\0')
			return NULL;
	}
}

/* Our environment, followed by the entries of abi/environment.h. */
static char **command_entries(const struct command_environment *environment,
			      const char *first_libraries)
{
	const size_t prefix = strlen(ENVIRONMENT_PRELOAD);
	const char *others = "";
	struct sigaction trap;
	size_t count = 0;

	for (; environ[count] != NULL; count++)
		if (strncmp(environ[count], ENVIRONMENT_PRELOAD, prefix) == 0)
			others = environ[count] + prefix;
	char **entries = xzalloc((count + ENVIRONMENT_ENTRIES + 1) * sizeof *entries);

	memcpy(entries, environ, count * sizeof *entries);
	sigaction(SIGTRAP, NULL, &trap);
	entries[count] = xasprintf(ENVIRONMENT_RECORDER "%s:%s:%s",
				   trap.sa_handler == SIG_IGN ? ENVIRONMENT_IGNORED
							      : ENVIRONMENT_DEFAULT,
				   environment->agent_path, environment->socket_path);
	entries[count + 1] =
		xasprintf(ENVIRONMENT_PRELOAD "%s%s%s%s%s", others,
			  others[0] != '\0' ? ":" : "", first_libraries,
			  first_libraries[0] != '\0' ? ":" : "", environment->agent_path);
	return entries;
}

bool command_has_no_agent(char *const *argv)
{
	CLEANUP(freep) struct target_program *program = xzalloc(sizeof *program);
	const char *path = command_find(argv[0]);

	if (path == NULL)
		return false;
	target_program_judge(path, argv, program);
	free((void *)(uintptr_t)path);
	return program_has_no_agent(program->kind);
}

/* In the child: executes the command, with the agent if its program can have one. */
static void command_exec(char *const *argv, const struct command_environment *environment)
{
	const char *path = command_find(argv[0]);
	struct target_program program = { .is_enterable = false };
	char *const *entries = environ;

	if (path != NULL && environment->agent_path != NULL)
		target_program_judge(path, argv, &program);
	if (program.is_enterable)
		entries = command_entries(environment, program.first_libraries);
	sigprocmask(SIG_SETMASK, &environment->signal_mask, NULL);
	if (environment->allowance != NULL)
		own_limits_give_back(environment->allowance);
	execvpe(argv[0], argv, entries);
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
