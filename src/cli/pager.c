#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/executable.h"
#include "cli/output.h"

extern char **environ;

/* The pager as a command line for sh, or NULL. */
static const char *choose_pager(void)
{
	const char *pager = getenv("FATHOM_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager && executable_check("less", NULL) == 0)
		pager = "less";
	if (!pager || !*pager || strcmp(pager, "cat") == 0)
		return NULL;
	return pager;
}

/* Starts it with a pipe as its stdin, whose write end is *out_fd. */
static int start(const char *pager, pid_t *out_pid, int *out_fd)
{
	char *arguments[] = { "sh", "-c", (char *)pager, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	/* Quit if it fits one screen, pass colours through, keep the screen: as git does. */
	setenv("LESS", "FRX", 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	posix_spawnattr_init(&attributes);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	int rc = posix_spawn(out_pid, "/bin/sh", &actions, &attributes, arguments, environ);

	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	close(ends[0]);
	if (rc != 0) {
		close(ends[1]);
		return -rc;
	}
	*out_fd = ends[1];
	return 0;
}

static void wait_for(pid_t pid)
{
	/* Ctrl-C is for the pager, which may use it. */
	sighandler_t before = signal(SIGINT, SIG_IGN);

	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, before);
}

int pager_show(const char *text, size_t len, struct error *err)
{
	const char *pager = isatty(STDOUT_FILENO) ? choose_pager() : NULL;
	pid_t pid;
	int fd;

	if (!pager || start(pager, &pid, &fd) < 0)
		return output_write(STDOUT_FILENO, "standard output", text, len, err);
	int rc = output_write(fd, "the pager", text, len, err);

	close(fd);
	wait_for(pid);
	/* The pager was quit before the end, or could not be started, which sh has reported. */
	return rc == -EPIPE ? 0 : rc;
}
