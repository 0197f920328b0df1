/* Calls with a time limit that nothing ends before; see interruptible.h. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interruptible.h"

#define SOON_NS 300000
#define ONE_MS  1000000

static const struct timespec soon = { .tv_nsec = SOON_NS };

static void call_poll(struct caller *caller)
{
	caller_judges_time(caller, poll(NULL, 0, 1) == 0, ONE_MS);
}

static void call_ppoll(struct caller *caller)
{
	sigset_t none;

	sigemptyset(&none);
	caller_judges_time(caller, ppoll(NULL, 0, &soon, caller->made % 2 ? &none : NULL) == 0,
			   SOON_NS);
}

static void call_select(struct caller *caller)
{
	struct timeval limit = { .tv_usec = SOON_NS / 1000 };

	caller_judges_time(caller, select(0, NULL, NULL, NULL, &limit) == 0, SOON_NS);
}

static void call_pselect(struct caller *caller)
{
	sigset_t none;

	sigemptyset(&none);
	caller_judges_time(caller, pselect(0, NULL, NULL, NULL, &soon, &none) == 0, SOON_NS);
}

static int prepare_epoll(struct caller *caller)
{
	caller->handles[0] = epoll_create1(EPOLL_CLOEXEC);
	return caller->handles[0] < 0 ? -1 : 0;
}

static void call_epoll_wait(struct caller *caller)
{
	struct epoll_event event;

	caller_judges_time(caller, epoll_wait(caller->handles[0], &event, 1, 1) == 0, ONE_MS);
}

static void call_epoll_pwait(struct caller *caller)
{
	struct epoll_event event;
	sigset_t none;

	sigemptyset(&none);
	caller_judges_time(caller, epoll_pwait(caller->handles[0], &event, 1, 1, &none) == 0,
			   ONE_MS);
}

static void call_nanosleep(struct caller *caller)
{
	caller_judges_time(caller, nanosleep(&soon, NULL) == 0, SOON_NS);
}

/* Until a moment, and for a while. */
static void call_clock_nanosleep(struct caller *caller)
{
	const struct timespec until = timespec_of_ns(caller->begin_ns + SOON_NS);
	const bool is_moment = caller->made % 2;

	errno = clock_nanosleep(CLOCK_MONOTONIC, is_moment ? TIMER_ABSTIME : 0,
				is_moment ? &until : &soon, NULL);
	caller_judges_time(caller, errno == 0, SOON_NS);
}

static void call_usleep(struct caller *caller)
{
	caller_judges_time(caller, usleep(SOON_NS / 1000) == 0, SOON_NS);
}

static void call_futex(struct caller *caller)
{
	const long rc = syscall(SYS_futex, &caller->word, FUTEX_WAIT_PRIVATE, 0, &soon);

	caller_judges_time(caller, rc == -1 && errno == ETIMEDOUT, SOON_NS);
}

static void call_sem_clockwait(struct caller *caller)
{
	const struct timespec until = timespec_of_ns(caller->begin_ns + SOON_NS);
	const int rc = sem_clockwait(&caller->go, CLOCK_MONOTONIC, &until);

	caller_judges_time(caller, rc == -1 && errno == ETIMEDOUT, SOON_NS);
}

/* Its time limit is of a clock that may be set, so it is not held to it. */
static void call_sem_timedwait(struct caller *caller)
{
	const struct timespec until = timespec_of_ns(clock_now_ns(CLOCK_REALTIME) + SOON_NS);
	const int rc = sem_timedwait(&caller->go, &until);

	caller_judges(caller, rc == -1 && errno == ETIMEDOUT);
}

static int prepare_recv(struct caller *caller)
{
	const struct timeval limit = { .tv_usec = 1000 };

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, caller->handles) != 0)
		return -1;
	return setsockopt(caller->handles[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

/* The kernel counts these limits in ticks, and the first may be cut short. */
static void call_recv(struct caller *caller)
{
	char byte;
	const ssize_t rc = recv(caller->handles[0], &byte, 1, 0);

	caller_judges(caller, rc == -1 && errno == EAGAIN);
}

/* SIGUSR2 is blocked and never sent. */
static void call_sigtimedwait(struct caller *caller)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	const int rc = sigtimedwait(&set, NULL, &soon);

	caller_judges_time(caller, rc == -1 && errno == EAGAIN, SOON_NS);
}

static void call_semtimedop(struct caller *caller)
{
	struct sembuf take = { .sem_op = -1 };
	const int rc = semtimedop(caller->handles[0], &take, 1, &soon);

	caller_judges_time(caller, rc == -1 && errno == EAGAIN, SOON_NS);
}

/* What makes it also removes it: what is removed at the end is still there while it waits. */
static int semtimedop_set = -1;

static __attribute__((destructor)) void remove_semaphore(void)
{
	if (semtimedop_set >= 0)
		semctl(semtimedop_set, 0, IPC_RMID);
}

static int prepare_semtimedop(struct caller *caller)
{
	semtimedop_set = caller->handles[0] = semget(IPC_PRIVATE, 1, 0600);
	return caller->handles[0] < 0 ? -1 : 0;
}

const struct row timed_rows[] = {
	{ "poll", NULL, call_poll, NULL, 0 },
	{ "ppoll", NULL, call_ppoll, NULL, 0 },
	{ "select", NULL, call_select, NULL, 0 },
	{ "pselect", NULL, call_pselect, NULL, 0 },
	{ "epoll_wait", prepare_epoll, call_epoll_wait, NULL, 0 },
	{ "epoll_pwait", prepare_epoll, call_epoll_pwait, NULL, 0 },
	{ "nanosleep", NULL, call_nanosleep, NULL, 0 },
	{ "clock_nanosleep", NULL, call_clock_nanosleep, NULL, 0 },
	{ "usleep", NULL, call_usleep, NULL, 0 },
	{ "futex", NULL, call_futex, NULL, 0 },
	{ "sem_timedwait", NULL, call_sem_timedwait, NULL, 0 },
	{ "sem_clockwait", NULL, call_sem_clockwait, NULL, 0 },
	{ "recv", prepare_recv, call_recv, NULL, 4 }, /* each takes a tick or two */
	{ "sigtimedwait", NULL, call_sigtimedwait, NULL, 0 },
	{ "semtimedop", prepare_semtimedop, call_semtimedop, NULL, 0 },
	{ NULL, NULL, NULL, NULL, 0 },
};
