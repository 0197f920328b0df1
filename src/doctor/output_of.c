#include "doctor/output_of.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

int output_of_start(char *const *arguments, char *const *environment, bool has_errors,
		    struct output_of *out_output)
{
	posix_spawn_file_actions_t actions;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (!has_errors)
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
						 0);
	posix_spawnattr_t attributes;
	sigset_t none;

	/* Unblock signals in the child: those that we block must be able to end it. */
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	const int rc = posix_spawn(&out_output->pid, arguments[0], &actions, &attributes,
				   arguments, environment);

	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (rc != 0) {
		close(ends[0]);
		return -rc;
	}
	out_output->lines = fdopen(ends[0], "r");
	return 0;
}

int output_of_end(struct output_of *output)
{
	int status = 0;

	if (output->lines)
		fclose(output->lines);
	waitpid(output->pid, &status, 0);
	return status;
}
