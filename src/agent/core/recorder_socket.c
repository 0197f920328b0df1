/*
 * recorder_socket - sends the recorder one message and waits for its answer, in bounded time.
 *
 * The peer is authenticated first: a recorder runs as root or as our own effective user.
 *
 * The system calls are made here and not by libc's functions: those are cancellation points,
 * and other preloaded libraries interpose them.  No handler of the program's runs meanwhile.
 */
#include "agent/core/recorder_socket.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "abi/handshake.h"
#include "agent/core/own_handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/blocked.h"
#include "agent/core/cpu_time.h"
#include "agent/core/environment.h"
#include "agent/core/program_start.h"

#define NS_PER_MS 1000000ULL

static struct {
	struct sockaddr_un address;
	u64 patience_ms;
	/* A socket that is connected already, plus one; 0: there is none. */
	int connection_taken;
} recorder AGENT_STATE = { .patience_ms = HANDSHAKE_TIMEOUT_MS };

static bool find_recorder(void)
{
	const char *path = environment_socket();

	if (path == NULL || path[0] == '\0' || strlen(path) >= sizeof recorder.address.sun_path)
		return false;
	recorder.address.sun_family = AF_UNIX;
	strcpy(recorder.address.sun_path, path);
	const char *name = strrchr(path, '/');

	if (name != NULL && strcmp(name, HANDSHAKE_TRACE_SOCKET) == 0)
		recorder.patience_ms = HANDSHAKE_TRACE_TIMEOUT_MS;
	return true;
}

void recorder_socket_close(int fd)
{
	arch_syscall4(SYS_close, fd, 0, 0, 0);
}

/*
 * The errors of connect(2) that mean that the recorder has ended.  EACCES does not: a program
 * that has another effective user for a while gets it.
 */
static bool means_gone(long error)
{
	return error == -ENOENT || error == -ECONNREFUSED || error == -ENOTDIR ||
	       error == -ELOOP || error == -EPROTOTYPE;
}

/* Not in a child of vfork(): it shares its parent's memory, and may see other paths. */
static void note_gone(void)
{
	if (!agent_is_of_another())
		environment_note_recorder_gone();
}

/*
 * Whether the peer runs as root or as our own effective user: by its credentials when it called
 * listen(), as our user namespace has them (unix(7)).
 */
static bool is_trusted_recorder(int fd)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t bytes = sizeof peer;

	if (arch_syscall6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer,
			  (long)&bytes, 0) < 0 ||
	    bytes != sizeof peer)
		return false;
	return peer.uid == 0 || peer.uid == (uid_t)arch_syscall4(SYS_geteuid, 0, 0, 0, 0);
}

void recorder_socket_take(int fd)
{
	recorder.connection_taken = fd + 1;
}

void recorder_socket_drop(void)
{
	if (recorder.connection_taken > 0)
		recorder_socket_close(recorder.connection_taken - 1);
	recorder.connection_taken = 0;
}

static void bound_waits(int fd)
{
	const struct timeval patience = { .tv_sec = (time_t)(recorder.patience_ms / 1000),
					  .tv_usec =
						  (long)(recorder.patience_ms % 1000 * 1000) };

	arch_syscall6(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&patience,
		      sizeof patience, 0);
	arch_syscall6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&patience,
		      sizeof patience, 0);
}

static int connect_to_recorder(void)
{
	const int taken_fd = recorder.connection_taken - 1;

	recorder.connection_taken = 0;
	if (taken_fd >= 0) {
		bound_waits(taken_fd);
		return taken_fd;
	}
	const int fd =
		(int)arch_syscall4(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0);

	if (fd < 0)
		return -1;
	bound_waits(fd);
	const long rc = arch_syscall4(SYS_connect, fd, (long)&recorder.address,
				      sizeof recorder.address, 0);
	const bool is_trusted = rc >= 0 && is_trusted_recorder(fd);

	if (is_trusted)
		return fd;
	recorder_socket_close(fd);
	if (rc >= 0 || means_gone(rc))
		note_gone();
	return -1;
}

static bool say(int fd, const struct recorder_question *question, u64 now_ns)
{
	struct handshake_request request = {
		.magic = HANDSHAKE_MAGIC,
		.occasion = question->occasion,
		.pid = (u32)own_process.pid,
		.tid = recorder_question_is_beginning(question->occasion)
			       ? (u32)own_process.pid
			       : (u32)arch_syscall4(SYS_gettid, 0, 0, 0, 0),
		.reason = question->reason,
		.target = question->target,
		.time_ns = now_ns,
	};

	/* In the constructor, libc has not set program_invocation_short_name yet. */
	strncpy(request.name,
		question->occasion == HANDSHAKE_START ? program_start.name
						      : program_invocation_short_name,
		sizeof request.name - 1);
	return arch_syscall6(SYS_sendto, fd, (long)&request, sizeof request, MSG_NOSIGNAL, 0,
			     0) == (long)sizeof request;
}

/* A process that is stopped and continued gets EINTR, whatever signals it blocks (signal(7)). */
static long receive(int fd, struct msghdr *message, u64 until_ns)
{
	long got;

	do {
		got = arch_syscall4(SYS_recvmsg, fd, (long)message, MSG_CMSG_CLOEXEC, 0);
	} while (got == -EINTR && kernel_clock_ns(CLOCK_MONOTONIC) < until_ns);
	return got;
}

/* The answer, and the ring's descriptor in *out_ring_fd (-1: none). */
static bool hear_answer(int fd, u64 until_ns, struct handshake_answer *out_answer,
			int *out_ring_fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = out_answer, .iov_len = sizeof *out_answer };
	struct msghdr message = { .msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  /* Not CMSG_SPACE, which has room for a second descriptor. */
				  .msg_controllen = CMSG_LEN(sizeof(int)) };
	const long got = receive(fd, &message, until_ns);
	const struct cmsghdr *first = got < 0 ? NULL : CMSG_FIRSTHDR(&message);

	*out_ring_fd = -1;
	if (first != NULL && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS)
		memcpy(out_ring_fd, CMSG_DATA(first), sizeof *out_ring_fd);
	return got == (long)sizeof *out_answer && out_answer->magic == HANDSHAKE_MAGIC;
}

/*
 * Blocks all signals, ours among them: a handler of the program's could run for as long as it
 * likes, or leave by longjmp().
 */
bool recorder_socket_ask(const struct recorder_question *question,
			 struct handshake_answer *out_answer, int *out_ring_fd)
{
	bool is_answered = false;

	*out_ring_fd = -1;
	const u64 before = blocked_begin();
	const int fd =
		!environment_recorder_is_gone() && find_recorder() ? connect_to_recorder() : -1;

	if (fd >= 0) {
		const u64 now_ns = kernel_clock_ns(CLOCK_MONOTONIC);

		own_handshake.may_be_trapped = true;
		is_answered = say(fd, question, now_ns) &&
			      hear_answer(fd, now_ns + recorder.patience_ms * NS_PER_MS,
					  out_answer, out_ring_fd);
		recorder_socket_close(fd);
	}
	blocked_end(before);
	return is_answered;
}

bool recorder_socket_is_reachable(void)
{
	const int fd =
		!environment_recorder_is_gone() && find_recorder() ? connect_to_recorder() : -1;

	if (fd >= 0)
		recorder_socket_close(fd);
	return fd >= 0;
}
