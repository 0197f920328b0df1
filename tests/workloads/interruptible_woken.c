/* Calls that a partner ends; see interruptible.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interruptible.h"

/* A partner's own calls are not the table's: they do not wait, and must not fail. */
static void must(bool is_right)
{
	if (!is_right)
		abort();
}

/* ---- a byte through a pipe or a pair of sockets ---- */

static int prepare_pipe(struct caller *caller)
{
	return pipe(caller->handles);
}

static int prepare_pair(struct caller *caller)
{
	return socketpair(AF_UNIX, SOCK_STREAM, 0, caller->handles);
}

static void call_read(struct caller *caller)
{
	char byte;
	ssize_t rc;

	caller_lets_go(caller);
	do
		rc = read(caller->handles[0], &byte, 1);
	while (caller_is_interrupted(caller, rc));
	caller_judges(caller, rc == 1);
}

static void wake_read(struct caller *caller)
{
	must(write(caller->handles[1], "x", 1) == 1);
}

/* ---- a page into a pipe that is full ---- */

static char page[4096];

static int prepare_full_pipe(struct caller *caller)
{
	if (pipe(caller->handles) != 0 || fcntl(caller->handles[1], F_SETPIPE_SZ, 4096) < 0)
		return -1;
	return write(caller->handles[1], page, sizeof page) == sizeof page ? 0 : -1;
}

static void call_write(struct caller *caller)
{
	ssize_t rc;

	caller_lets_go(caller);
	do
		rc = write(caller->handles[1], page, sizeof page);
	while (caller_is_interrupted(caller, rc));
	caller_judges(caller, rc == sizeof page);
}

static void wake_write(struct caller *caller)
{
	static char sink[sizeof page];

	must(read(caller->handles[0], sink, sizeof sink) == sizeof sink);
}

/* ---- connections ---- */

/* The kernel gives a socket that is bound to no name a name of its own. */
static struct sockaddr_un name_of(int listener, socklen_t *out_len)
{
	struct sockaddr_un name = { 0 };

	*out_len = sizeof name;
	must(getsockname(listener, (struct sockaddr *)&name, out_len) == 0);
	return name;
}

static int connect_to(int listener, int *out_fd)
{
	socklen_t len;
	const struct sockaddr_un name = name_of(listener, &len);

	*out_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(*out_fd >= 0);
	return connect(*out_fd, (const struct sockaddr *)&name, len);
}

static int prepare_listener(struct caller *caller)
{
	const struct sockaddr_un unnamed = { .sun_family = AF_UNIX };
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	caller->handles[0] = listener;
	if (listener < 0 ||
	    bind(listener, (const struct sockaddr *)&unnamed, sizeof unnamed.sun_family) != 0)
		return -1;
	return listen(listener, 0);
}

static void call_accept(struct caller *caller)
{
	int rc;

	caller_lets_go(caller);
	do
		rc = accept(caller->handles[0], NULL, NULL);
	while (caller_is_interrupted(caller, rc));
	caller_judges(caller, rc >= 0);
	close(rc);
}

static void wake_accept(struct caller *caller)
{
	int fd;

	must(connect_to(caller->handles[0], &fd) == 0);
	close(fd);
}

/* One connection waits to be accepted, and no more may. */
static int prepare_full_listener(struct caller *caller)
{
	if (prepare_listener(caller) != 0)
		return -1;
	return connect_to(caller->handles[0], &caller->handles[1]);
}

static void call_connect(struct caller *caller)
{
	int fd, rc;

	caller_lets_go(caller);
	rc = connect_to(caller->handles[0], &fd);
	while (caller_is_interrupted(caller, rc)) {
		close(fd);
		rc = connect_to(caller->handles[0], &fd);
	}
	caller_judges(caller, rc == 0);
	close(fd);
}

static void wake_connect(struct caller *caller)
{
	const int fd = accept(caller->handles[0], NULL, NULL);

	must(fd >= 0);
	close(fd);
}

/* ---- locks on a file that was opened twice ---- */

static int prepare_file(struct caller *caller)
{
	char path[] = "/tmp/interruptible-XXXXXX";

	caller->handles[0] = mkstemp(path);
	caller->handles[1] = open(path, O_RDWR | O_CLOEXEC);
	unlink(path);
	return caller->handles[0] < 0 || caller->handles[1] < 0 ? -1 : 0;
}

static void call_flock(struct caller *caller)
{
	int rc;

	must(flock(caller->handles[1], LOCK_EX) == 0);
	caller_lets_go(caller);
	do
		rc = flock(caller->handles[0], LOCK_EX);
	while (caller_is_interrupted(caller, rc));
	caller_judges(caller, rc == 0);
	flock(caller->handles[0], LOCK_UN);
}

static void wake_flock(struct caller *caller)
{
	must(flock(caller->handles[1], LOCK_UN) == 0);
}

/* Locks of the open file, not of the process: the threads have one process. */
static int lock_file(int fd, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLKW, &lock);
}

static void call_fcntl(struct caller *caller)
{
	int rc;

	must(lock_file(caller->handles[1], F_WRLCK) == 0);
	caller_lets_go(caller);
	do
		rc = lock_file(caller->handles[0], F_WRLCK);
	while (caller_is_interrupted(caller, rc));
	caller_judges(caller, rc == 0);
	lock_file(caller->handles[0], F_UNLCK);
}

static void wake_fcntl(struct caller *caller)
{
	must(lock_file(caller->handles[1], F_UNLCK) == 0);
}

/* ---- processes ---- */

static void call_waitpid(struct caller *caller)
{
	pid_t pid, rc;
	int status;

	pid = fork();
	must(pid >= 0);
	if (pid == 0) {
		usleep(100);
		_exit(7);
	}
	do
		rc = waitpid(pid, &status, 0);
	while (caller_is_interrupted(caller, rc));
	caller_judges(caller, rc == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* ---- messages and semaphores of System V ---- */

static int message_queue = -1, semaphore_set = -1;

static __attribute__((destructor)) void remove_queues(void)
{
	if (message_queue >= 0)
		msgctl(message_queue, IPC_RMID, NULL);
	if (semaphore_set >= 0)
		semctl(semaphore_set, 0, IPC_RMID);
}

static int prepare_msgrcv(struct caller *caller)
{
	(void)caller;
	message_queue = msgget(IPC_PRIVATE, 0600);
	return message_queue < 0 ? -1 : 0;
}

struct message {
	long type;
	char text[8];
};

static void call_msgrcv(struct caller *caller)
{
	struct message message;
	ssize_t rc;

	caller_lets_go(caller);
	do
		rc = msgrcv(message_queue, &message, sizeof message.text, 0, 0);
	while (caller_is_interrupted(caller, rc));
	caller_judges(caller, rc == sizeof message.text);
}

static void wake_msgrcv(struct caller *caller)
{
	const struct message message = { .type = 1 };

	(void)caller;
	must(msgsnd(message_queue, &message, sizeof message.text, IPC_NOWAIT) == 0);
}

static int prepare_semop(struct caller *caller)
{
	(void)caller;
	semaphore_set = semget(IPC_PRIVATE, 1, 0600);
	return semaphore_set < 0 ? -1 : 0;
}

static void call_semop(struct caller *caller)
{
	struct sembuf take = { .sem_op = -1 };
	int rc;

	caller_lets_go(caller);
	do
		rc = semop(semaphore_set, &take, 1);
	while (caller_is_interrupted(caller, rc));
	caller_judges(caller, rc == 0);
}

static void wake_semop(struct caller *caller)
{
	struct sembuf give = { .sem_op = 1 };

	(void)caller;
	must(semop(semaphore_set, &give, 1) == 0);
}

/* ---- a signal that every thread blocks ---- */

static void call_sigwaitinfo(struct caller *caller)
{
	sigset_t set;
	int rc;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	caller_lets_go(caller);
	do
		rc = sigwaitinfo(&set, NULL);
	while (caller_is_interrupted(caller, rc));
	caller_judges(caller, rc == SIGUSR1);
}

static void wake_sigwaitinfo(struct caller *caller)
{
	must(pthread_kill(caller->thread, SIGUSR1) == 0);
}

const struct row woken_rows[] = {
	{ "read (pipe)", prepare_pipe, call_read, wake_read, 0 },
	{ "read (socket)", prepare_pair, call_read, wake_read, 0 },
	{ "write (pipe)", prepare_full_pipe, call_write, wake_write, 0 },
	{ "accept", prepare_listener, call_accept, wake_accept, 0 },
	{ "connect", prepare_full_listener, call_connect, wake_connect, 0 },
	{ "flock", prepare_file, call_flock, wake_flock, 0 },
	{ "fcntl", prepare_file, call_fcntl, wake_fcntl, 0 },
	{ "waitpid", NULL, call_waitpid, NULL, 4 },
	{ "msgrcv", prepare_msgrcv, call_msgrcv, wake_msgrcv, 0 },
	{ "semop", prepare_semop, call_semop, wake_semop, 0 },
	{ "sigwaitinfo", NULL, call_sigwaitinfo, wake_sigwaitinfo, 0 },
	{ NULL, NULL, NULL, NULL, 0 },
};
