/*
 * popen - implements popen(3), since libc's starts its shell without calling our functions.
 *
 * The stream is one of fdopen()'s, and its process is kept in a list of ours, as in libc's
 * popen(): pclose() and fclose() wait for that process.  (To call libc's popen() while environ
 * points to another array would let other threads find that array, and setenv() copy it.)  It
 * allocates, with the program's malloc(), where libc's does.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/environment.h"
#include "agent/exec/interposed.h"
#include "agent/exec/launch.h"

struct stream {
	struct stream *next;
	FILE *file;
	pid_t pid;
	int fd;
};

static struct {
	/* Held while a shell is started: no stream may be added or removed meanwhile. */
	pthread_mutex_t lock;
	/* Also read without the lock: NULL if there is no stream of ours. */
	struct stream *first;
} streams AGENT_STATE = { .lock = PTHREAD_MUTEX_INITIALIZER };

AGENT_START void popen_forget(void)
{
	pthread_mutex_init(&streams.lock, NULL);
}

struct popen_mode {
	bool is_read, is_write, is_cloexec;
};

static bool parse_mode(const char *mode, struct popen_mode *out_mode)
{
	*out_mode = (struct popen_mode){ .is_read = false };
	for (; *mode != '\0'; mode++) {
		if (*mode == 'r')
			out_mode->is_read = true;
		else if (*mode == 'w')
			out_mode->is_write = true;
		else if (*mode == 'e')
			out_mode->is_cloexec = true;
		else
			return false;
	}
	return out_mode->is_read != out_mode->is_write;
}

static void close_quietly(int fd)
{
	arch_syscall4(SYS_close, fd, 0, 0, 0);
}

/* The child's file actions: POSIX requires earlier streams to be closed in it. */
static int fill_actions(posix_spawn_file_actions_t *actions, int child_end, int target)
{
	int rc = posix_spawn_file_actions_adddup2(actions, child_end, target);

	for (const struct stream *at = streams.first; at != NULL && rc == 0; at = at->next)
		if (at->fd != target)
			rc = posix_spawn_file_actions_addclose(actions, at->fd);
	return rc;
}

static int start_shell(const char *command, int child_end, int target, pid_t *out_pid)
{
	posix_spawn_file_actions_t actions;

	posix_spawn_file_actions_init(&actions);
	int rc = fill_actions(&actions, child_end, target);

	if (rc == 0)
		rc = launch_shell(command, &actions, NULL, out_pid);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* The lock is held.  0, or an errno. */
static int open_stream(struct stream *stream, const char *command, struct popen_mode mode)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	const int childs = mode.is_read ? ends[1] : ends[0];

	stream->fd = mode.is_read ? ends[0] : ends[1];
	stream->file = fdopen(stream->fd, mode.is_read ? "r" : "w");
	const int rc = stream->file == NULL
			       ? errno
			       : start_shell(command, childs,
					     mode.is_read ? STDOUT_FILENO : STDIN_FILENO,
					     &stream->pid);

	close_quietly(childs);
	if (rc != 0 && stream->file != NULL)
		HOOK_NEXT(fclose)(stream->file);
	else if (rc != 0)
		close_quietly(stream->fd);
	else if (!mode.is_cloexec)
		fcntl(stream->fd, F_SETFD, 0);
	return rc;
}

static int begin_stream(struct stream *stream, const char *command, struct popen_mode mode)
{
	pthread_mutex_lock(&streams.lock);
	const int rc = open_stream(stream, command, mode);

	if (rc == 0) {
		stream->next = streams.first;
		__atomic_store_n(&streams.first, stream, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&streams.lock);
	return rc;
}

AGENT_EXPORT FILE *popen(const char *command, const char *mode_text)
{
	const int saved_errno = errno;
	struct popen_mode mode;

	if (environment_socket() == NULL || !parse_mode(mode_text, &mode))
		return HOOK_NEXT(popen)(command, mode_text);
	struct stream *stream = malloc(sizeof *stream);

	if (stream == NULL)
		return NULL;
	const int rc = begin_stream(stream, command, mode);

	if (rc != 0) {
		free(stream);
		errno = rc;
		return NULL;
	}
	errno = saved_errno;
	return stream->file;
}

/* Takes a stream of ours out of the list; returns its process, or 0: it is none of ours. */
static pid_t take(const FILE *file)
{
	struct stream *stream = NULL;

	if (file == NULL || __atomic_load_n(&streams.first, __ATOMIC_RELAXED) == NULL)
		return 0;
	pthread_mutex_lock(&streams.lock);
	for (struct stream **at = &streams.first; *at != NULL; at = &(*at)->next) {
		if ((*at)->file != file)
			continue;
		stream = *at;
		__atomic_store_n(at, stream->next, __ATOMIC_RELAXED);
		break;
	}
	pthread_mutex_unlock(&streams.lock);
	const pid_t pid = stream != NULL ? stream->pid : 0;

	free(stream);
	return pid;
}

/* Waits for the process after the stream was closed with result rc. */
static int wait_for(pid_t pid, int rc)
{
	int status, before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	const pid_t waited = launch_wait(pid, &status);

	pthread_setcancelstate(before, NULL);
	if (waited < 0)
		return -1;
	return status != 0 ? status : rc;
}

AGENT_EXPORT int pclose(FILE *file)
{
	const pid_t pid = take(file);

	if (pid == 0)
		return HOOK_NEXT(pclose)(file);
	return wait_for(pid, HOOK_NEXT(fclose)(file));
}

AGENT_EXPORT int fclose(FILE *file)
{
	const pid_t pid = take(file);

	if (pid == 0)
		return HOOK_NEXT(fclose)(file);
	return wait_for(pid, HOOK_NEXT(fclose)(file));
}
