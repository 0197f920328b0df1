/*
 * popen - popen(3), since libc's starts its shell by a way of its own.
 *
 * The stream is one of fdopen()'s, and which process is behind it is in a table here, as libc
 * has it in a list: pclose() and fclose() wait for that.  (The other way, libc's popen() while
 * environ leads to another array for a moment, would let other threads find that array, and
 * setenv() copy it.)  A stream that does not find a place in the table is libc's, and its shell
 * is not entered.
 */
#include "vantage/agent/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/types.h"
#include "vantage/agent/agent.h"
#include "vantage/agent/arch.h"
#include "vantage/agent/environment.h"
#include "vantage/agent/hooks.h"

#define STREAM_COUNT 64

struct stream {
	FILE *file; /* NULL: a free place */
	pid_t pid;
	int fd;
};

static struct {
	/* Held while a shell is started: no stream may come or go meanwhile. */
	pthread_mutex_t lock;
	u32 in_use; /* read without the lock, by those whose streams are not in here */
	struct stream all[STREAM_COUNT];
} streams = { .lock = PTHREAD_MUTEX_INITIALIZER };

void popen_forget(void)
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

/* What the child does with its descriptors: POSIX wants earlier streams closed in it. */
static int fill_actions(posix_spawn_file_actions_t *actions, int child_end, int target)
{
	int rc = posix_spawn_file_actions_adddup2(actions, child_end, target);

	for (size_t i = 0; i < STREAM_COUNT && rc == 0; i++)
		if (streams.all[i].file != NULL && streams.all[i].fd != target)
			rc = posix_spawn_file_actions_addclose(actions, streams.all[i].fd);
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

/* The lock is held. */
static struct stream *find(const FILE *file)
{
	for (size_t i = 0; i < STREAM_COUNT; i++)
		if (streams.all[i].file == file)
			return &streams.all[i];
	return NULL;
}

/* The lock is held.  0, or an errno. */
static int open_stream(struct stream *place, const char *command, struct popen_mode mode)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	const int ours = mode.is_read ? ends[0] : ends[1];
	const int childs = mode.is_read ? ends[1] : ends[0];
	FILE *file = fdopen(ours, mode.is_read ? "r" : "w");
	int rc = file != NULL ? start_shell(command, childs,
					    mode.is_read ? STDOUT_FILENO : STDIN_FILENO, &pid)
			      : errno;

	close_quietly(childs);
	if (rc != 0) {
		if (file != NULL)
			HOOK_NEXT(fclose)(file);
		else
			close_quietly(ours);
		return rc;
	}
	if (!mode.is_cloexec)
		fcntl(ours, F_SETFD, 0);
	*place = (struct stream){ .file = file, .pid = pid, .fd = ours };
	__atomic_fetch_add(&streams.in_use, 1, __ATOMIC_RELAXED);
	return 0;
}

AGENT_EXPORT FILE *popen(const char *command, const char *mode_text)
{
	struct popen_mode mode;
	const int saved_errno = errno;
	FILE *file = NULL;
	int rc = 0;

	if (!environment_may_enter() || !parse_mode(mode_text, &mode))
		return HOOK_NEXT(popen)(command, mode_text);
	pthread_mutex_lock(&streams.lock);
	struct stream *place = find(NULL);

	if (place != NULL) {
		rc = open_stream(place, command, mode);
		file = place->file;
	}
	pthread_mutex_unlock(&streams.lock);
	if (place == NULL)
		return HOOK_NEXT(popen)(command, mode_text);
	errno = rc != 0 ? rc : saved_errno;
	return file;
}

/* The process behind a stream of ours, which is no longer one then; 0: it is none. */
static pid_t take(const FILE *file)
{
	pid_t pid = 0;

	if (file == NULL || __atomic_load_n(&streams.in_use, __ATOMIC_RELAXED) == 0)
		return 0;
	pthread_mutex_lock(&streams.lock);
	struct stream *place = find(file);

	if (place != NULL) {
		pid = place->pid;
		place->file = NULL;
		__atomic_fetch_sub(&streams.in_use, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&streams.lock);
	return pid;
}

/* Behind a close that said rc. */
static int wait_for(pid_t pid, int rc)
{
	int status, before;
	pid_t waited;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	do {
		waited = waitpid(pid, &status, 0);
	} while (waited < 0 && errno == EINTR);
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
