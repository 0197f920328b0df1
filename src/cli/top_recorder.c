#include "cli/top_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/output.h"

#define FIXED    5U
#define TAIL     4096
#define PATIENCE 50 /* of 100 ms: how long a command may take to terminate */
#define STEP_NS  100000000L

static int make_folder(struct top_recorder *recorder, const char *recording, struct error *err)
{
	const char *place = getenv("TMPDIR");

	recorder->folder = xasprintf("%s/fathom-top-XXXXXX", place && *place ? place : "/tmp");
	if (!mkdtemp(recorder->folder)) {
		const int rc = -errno;

		error_errno(err, rc, "cannot make a folder for the recording: %s",
			    recorder->folder);
		freep(&recorder->folder);
		return rc;
	}
	recorder->recording =
		recording ? xstrdup(recording) : xasprintf("%s/top.fathom", recorder->folder);
	return 0;
}

/*
 * Redirects standard output to the file or to standard error; standard input and errors only if
 * they are a terminal.
 */
static void set_descriptors(const struct top_recorder *recorder)
{
	const char *path = recorder->output;
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	if (nothing >= 0 && isatty(STDIN_FILENO))
		dup2(nothing, STDIN_FILENO);
	if (!path)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	else if (fd >= 0)
		dup2(fd, STDOUT_FILENO);
	if (fd >= 0 && isatty(STDERR_FILENO))
		dup2(fd, STDERR_FILENO);
}

/* Runs between fork and exec. */
static _Noreturn void run_recorder(const struct top_recorder *recorder, char **arguments,
				   pid_t parent)
{
	sigset_t none;

	set_descriptors(recorder);
	/* ^C and the like on the terminal are for the view, not for the recorder. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_CODE_NOT_STARTED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", arguments);
	_exit(EXIT_CODE_NOT_STARTED);
}

int top_recorder_start(char *const *arguments, const char *recording, bool keeps_output,
		       struct top_recorder *out_recorder, struct error *err)
{
	struct top_recorder *recorder = out_recorder;
	const pid_t parent = getpid();
	size_t count = 0;

	*recorder = (struct top_recorder){ .pid = -1 };
	const int rc = make_folder(recorder, recording, err);

	if (rc < 0)
		return rc;
	if (keeps_output)
		recorder->output = xasprintf("%s/output", recorder->folder);
	while (arguments[count])
		count++;
	CLEANUP(freep) char **all = xreallocarray(NULL, FIXED + count + 1, sizeof *all);
	char *const fixed[FIXED] = { (char *)"fathom", (char *)"record", (char *)"-q",
				     (char *)"-o", recorder->recording };

	memcpy(all, fixed, sizeof fixed);
	memcpy(all + FIXED, arguments, (count + 1) * sizeof *all);
	recorder->pid = fork();
	if (recorder->pid < 0)
		return error_errno(err, -errno, "cannot start the recorder");
	if (recorder->pid == 0)
		run_recorder(recorder, all, parent);
	return 0;
}

void top_recorder_poll(struct top_recorder *recorder)
{
	if (!recorder->has_ended && recorder->pid > 0 &&
	    waitpid(recorder->pid, &recorder->status, WNOHANG) == recorder->pid)
		recorder->has_ended = true;
}

static void wait_a_while(struct top_recorder *recorder)
{
	const struct timespec step = { .tv_nsec = STEP_NS };

	for (int i = 0; i < PATIENCE && !recorder->has_ended; i++) {
		top_recorder_poll(recorder);
		if (!recorder->has_ended)
			nanosleep(&step, NULL);
	}
}

void top_recorder_stop(struct top_recorder *recorder)
{
	static const int signals[] = { SIGINT, SIGTERM };

	/* The recorder forwards them to its command. */
	for (size_t i = 0; i < 2 && recorder->pid > 0 && !recorder->has_ended; i++) {
		kill(recorder->pid, signals[i]);
		wait_a_while(recorder);
	}
}

void top_recorder_show_output(const struct top_recorder *recorder)
{
	CLEANUP(closep)
	int fd = recorder->output ? open(recorder->output, O_RDONLY | O_CLOEXEC) : -1;
	char tail[TAIL];
	const off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	const off_t at = size > TAIL ? size - TAIL : 0;
	const ssize_t len = size > 0 ? pread(fd, tail, sizeof tail, at) : 0;
	const char *line = at > 0 && len > 0 ? memchr(tail, '\n', (size_t)len) : NULL;
	const char *first = line ? line + 1 : tail;
	struct error err;

	if (len > 0)
		output_write(STDERR_FILENO, "standard error", first,
			     (size_t)(tail + len - first), &err);
}

void top_recorder_done(struct top_recorder *recorder)
{
	static const char *const files[] = { "top.fathom", "top.fathom-wal", "top.fathom-shm",
					     "output" };

	for (size_t i = 0; recorder->folder && i < sizeof files / sizeof *files; i++) {
		CLEANUP(freep) char *path = xasprintf("%s/%s", recorder->folder, files[i]);

		unlink(path);
	}
	if (recorder->folder)
		rmdir(recorder->folder);
	free(recorder->folder);
	free(recorder->recording);
	free(recorder->output);
	*recorder = (struct top_recorder){ .pid = -1 };
}
