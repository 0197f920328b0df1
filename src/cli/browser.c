#include "cli/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/executable.h"

extern char **environ;

/*
 * A program that only hands the file to a browser ends sooner; else its window is open by then.
 */
enum { SECONDS_TO_FAIL = 3 };

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

static bool has_command(const char *name)
{
	return executable_check(name, NULL) == 0;
}

/*
 * The first entry of $BROWSER, a colon-separated list as for xdg-open(1): a command line for sh
 * in which %s, or else an added argument, is the file. The caller frees it.
 */
static char *line_of_variable(void)
{
	const char *browser = getenv("BROWSER");
	const int len = (int)strcspn(browser, ":");
	const char *place = memmem(browser, (size_t)len, "%s", 2);

	if (!place)
		return xasprintf("%.*s \"$1\"", len, browser);
	return xasprintf("%.*s\"$1\"%.*s", (int)(place - browser), browser,
			 (int)(browser + len - place - 2), place + 2);
}

/* A command line for sh with the file as $1, or NULL and the reason. */
static char *choose(enum browser_result *out_why_not)
{
	const bool is_wsl = is_set("WSL_DISTRO_NAME") || is_set("WSL_INTEROP");

	*out_why_not = BROWSER_NONE;
	if (is_set("BROWSER"))
		return line_of_variable();
	if (is_wsl && has_command("wslview"))
		return xstrdup("wslview \"$1\"");
	/* explorer.exe's exit code is always a failure. */
	if (is_wsl && has_command("explorer.exe") && has_command("wslpath"))
		return xstrdup("explorer.exe \"$(wslpath -w \"$1\")\" || true");
	if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) {
		*out_why_not = BROWSER_NO_DISPLAY;
		return NULL;
	}
	return has_command("xdg-open") ? xstrdup("xdg-open \"$1\"") : NULL;
}

/* In a session of its own, so that ^C and the end of the terminal do not reach the browser. */
static int start(const char *line, const char *path, pid_t *out_pid)
{
	char *arguments[] = { "sh", "-c", (char *)line, "sh", (char *)path, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;

	posix_spawn_file_actions_init(&actions);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	posix_spawnattr_init(&attributes);
	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	const int rc =
		posix_spawn(out_pid, "/bin/sh", &actions, &attributes, arguments, environ);

	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return rc;
}

/* Whether it failed within SECONDS_TO_FAIL; false if it runs on. */
static bool fails_at_once(pid_t pid, const sigset_t *child_signal)
{
	const struct timespec limit = { .tv_sec = SECONDS_TO_FAIL };
	int status = 0;

	while (sigtimedwait(child_signal, NULL, &limit) < 0 && errno == EINTR)
		;
	return waitpid(pid, &status, WNOHANG) == pid &&
	       !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

enum browser_result browser_open(const char *path)
{
	enum browser_result why_not;
	CLEANUP(freep) char *line = choose(&why_not);
	sigset_t child_signal, before;
	pid_t pid;

	if (!line)
		return why_not;
	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_signal, &before);
	const bool has_failed =
		start(line, path, &pid) != 0 || fails_at_once(pid, &child_signal);

	sigprocmask(SIG_SETMASK, &before, NULL);
	return has_failed ? BROWSER_FAILED : BROWSER_STARTED;
}
