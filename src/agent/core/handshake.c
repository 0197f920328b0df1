/*
 * handshake - hello to the recorder, and the ring from it, in bounded time.
 *
 * Runs in the constructor, in children of fork, and where the program is about to do what
 * traps would harm; never in a handler.  Every failure of a hello means one thing: this process
 * runs on unsampled, and the recorder, who saw it start, names it.
 *
 * Whatever answers is authenticated first: a recorder is root's or of our own effective user.
 * The ring is mapped if it can never be made shorter, and used if its figures are sound
 * (abi/ring_terms.h).
 *
 * The system calls are made here and not by libc's functions: those are cancellation points,
 * and other preloaded libraries stand before them.  No handler of the program's runs
 * meanwhile.
 */
#include "agent/core/handshake.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "abi/ring.h"
#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/environment.h"
#include "agent/core/mechanism.h"
#include "agent/core/thread_notes.h"

#define KERNEL_SIGSET_BYTES 8
#define NS_PER_SECOND       1000000000ULL
#define NS_PER_MS           1000000ULL

static struct sockaddr_un recorder_address AGENT_STATE;
static u64 patience_ms = HANDSHAKE_TIMEOUT_MS;
/* Where the ring of a recorder was that has left: its size stays the same. */
static struct {
	struct ring_header *ring;
	u64 bytes;
} old_ring;
/* Why this process and its children of fork are not sampled any more. */
static u32 lasting_reason;

static bool handshake_find_recorder(void)
{
	const char *path = environment_socket();

	if (path == NULL || path[0] == '\0' || strlen(path) >= sizeof recorder_address.sun_path)
		return false;
	recorder_address.sun_family = AF_UNIX;
	strcpy(recorder_address.sun_path, path);
	const char *name = strrchr(path, '/');

	if (name != NULL && strcmp(name, HANDSHAKE_TRACE_SOCKET) == 0)
		patience_ms = HANDSHAKE_TRACE_TIMEOUT_MS;
	return true;
}

static void handshake_close(int fd)
{
	arch_syscall4(SYS_close, fd, 0, 0, 0);
}

static u64 monotonic_ns(void)
{
	struct timespec now;

	arch_syscall4(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
	return (u64)now.tv_sec * NS_PER_SECOND + (u64)now.tv_nsec;
}

/*
 * What connecting says when the recorder has ended.  EACCES is none of these: a program that
 * has another effective user for a while gets it.
 */
static bool means_gone(long error)
{
	return error == -ENOENT || error == -ECONNREFUSED || error == -ENOTDIR ||
	       error == -ELOOP || error == -EPROTOTYPE;
}

/* A child of vfork() has the memory of its parent, which may see other paths than it does. */
static void handshake_note_gone(void)
{
	if (!agent_is_of_another())
		environment_note_recorder_gone();
}

/*
 * Whether what listens is a recorder of root's or of our own effective user.  These are its
 * credentials when it called listen(), as our user namespace has them (unix(7)).
 */
static bool handshake_is_trusted(int fd)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t bytes = sizeof peer;

	if (arch_syscall6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer,
			  (long)&bytes, 0) < 0 ||
	    bytes != sizeof peer)
		return false;
	return peer.uid == 0 || peer.uid == (uid_t)arch_syscall4(SYS_geteuid, 0, 0, 0, 0);
}

/* One more than a socket to the recorder that is there already; 0: there is none. */
static int connection_taken;

void handshake_take_connection(int fd)
{
	connection_taken = fd + 1;
}

void handshake_drop_connection(void)
{
	if (connection_taken > 0)
		handshake_close(connection_taken - 1);
	connection_taken = 0;
}

static void handshake_bound_waits(int fd)
{
	const struct timeval patience = { .tv_sec = (time_t)(patience_ms / 1000),
					  .tv_usec = (long)(patience_ms % 1000 * 1000) };

	arch_syscall6(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&patience,
		      sizeof patience, 0);
	arch_syscall6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&patience,
		      sizeof patience, 0);
}

static int handshake_connect(void)
{
	const int taken_fd = connection_taken - 1;

	connection_taken = 0;
	if (taken_fd >= 0) {
		handshake_bound_waits(taken_fd);
		return taken_fd;
	}
	const int fd =
		(int)arch_syscall4(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0);

	if (fd < 0)
		return -1;
	handshake_bound_waits(fd);
	const long rc = arch_syscall4(SYS_connect, fd, (long)&recorder_address,
				      sizeof recorder_address, 0);
	const bool is_trusted = rc >= 0 && handshake_is_trusted(fd);

	if (is_trusted)
		return fd;
	handshake_close(fd);
	if (rc >= 0 || means_gone(rc))
		handshake_note_gone();
	return -1;
}

/* What is said, and of whom (abi/handshake.h). */
struct words {
	u32 occasion;
	u32 reason;
	u32 target;
};

/* In these, one thread is all there is: its number is the process's. */
static bool is_beginning(u32 occasion)
{
	return occasion == HANDSHAKE_START || occasion == HANDSHAKE_FORK;
}

static bool handshake_say_hello(int fd, const struct words *words, u64 now_ns)
{
	struct handshake_hello hello = {
		.magic = HANDSHAKE_MAGIC,
		.occasion = words->occasion,
		.pid = (u32)agent.pid,
		.tid = is_beginning(words->occasion)
			       ? (u32)agent.pid
			       : (u32)arch_syscall4(SYS_gettid, 0, 0, 0, 0),
		.reason = words->reason,
		.target = words->target,
		.time_ns = now_ns,
	};

	/* In the constructor, libc does not know it yet. */
	strncpy(hello.name,
		words->occasion == HANDSHAKE_START ? agent.name : program_invocation_short_name,
		sizeof hello.name - 1);
	return arch_syscall6(SYS_sendto, fd, (long)&hello, sizeof hello, MSG_NOSIGNAL, 0, 0) ==
	       (long)sizeof hello;
}

/* A process that is stopped and goes on gets EINTR, whatever signals it blocks (signal(7)). */
static long handshake_receive(int fd, struct msghdr *message, u64 until_ns)
{
	long got;

	do {
		got = arch_syscall4(SYS_recvmsg, fd, (long)message, MSG_CMSG_CLOEXEC, 0);
	} while (got == -EINTR && monotonic_ns() < until_ns);
	return got;
}

/* The answer, and the ring's descriptor in *out_ring_fd (-1: none). */
static bool handshake_hear_answer(int fd, u64 until_ns, struct handshake_answer *out_answer,
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
				  /* Not its space, in which there is room for a second one. */
				  .msg_controllen = CMSG_LEN(sizeof(int)) };
	const long got = handshake_receive(fd, &message, until_ns);
	const struct cmsghdr *first = got < 0 ? NULL : CMSG_FIRSTHDR(&message);

	*out_ring_fd = -1;
	if (first != NULL && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS)
		memcpy(out_ring_fd, CMSG_DATA(first), sizeof *out_ring_fd);
	return got == (long)sizeof *out_answer && out_answer->magic == HANDSHAKE_MAGIC;
}

/*
 * One hello and its answer.  A handler of the program's would run for as long as it likes, or
 * leave by longjmp(); so signals wait, ours among them.
 */
static bool handshake_exchange(const struct words *words, struct handshake_answer *out_answer,
			       int *out_ring_fd)
{
	const u64 all = ~0ULL;
	u64 before = 0;
	bool is_answered = false;

	*out_ring_fd = -1;
	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
		      KERNEL_SIGSET_BYTES);
	const int fd = !environment_recorder_is_gone() && handshake_find_recorder()
			       ? handshake_connect()
			       : -1;

	if (fd >= 0) {
		const u64 now_ns = monotonic_ns();

		agent.may_be_trapped = true;
		is_answered = handshake_say_hello(fd, words, now_ns) &&
			      handshake_hear_answer(fd, now_ns + patience_ms * NS_PER_MS,
						    out_answer, out_ring_fd);
		handshake_close(fd);
	}
	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, KERNEL_SIGSET_BYTES);
	return is_answered;
}

/*
 * Whether the memory has the size that was said, and keeps it: then no access within it can
 * fault.  Only memory of memfd_create() has seals.
 */
static bool handshake_is_sealed(int ring_fd, u64 bytes)
{
	const long needed = F_SEAL_SHRINK | F_SEAL_GROW;
	const long seals = arch_syscall4(SYS_fcntl, ring_fd, F_GET_SEALS, 0, 0);

	return seals >= 0 && (seals & needed) == needed &&
	       arch_syscall4(SYS_lseek, ring_fd, 0, SEEK_END, 0) == (long)bytes;
}

static void handshake_unmap(struct ring_header *ring, u64 bytes)
{
	arch_syscall4(SYS_munmap, (long)ring, (long)bytes, 0, 0);
}

static struct ring_header *handshake_map_ring(int ring_fd, u64 bytes)
{
	if (!ring_is_possible_size(bytes) || !handshake_is_sealed(ring_fd, bytes))
		return NULL;
	const bool is_old_place = old_ring.bytes == bytes;
	struct ring_header *ring =
		(void *)arch_syscall6(SYS_mmap, is_old_place ? (long)old_ring.ring : 0,
				      (long)bytes, PROT_READ | PROT_WRITE,
				      MAP_SHARED | (is_old_place ? MAP_FIXED : 0), ring_fd, 0);

	if ((long)ring < 0)
		return NULL;
	if (ring_read_terms(ring, bytes, &agent.terms) < 0) {
		handshake_unmap(ring, bytes);
		old_ring.bytes = 0;
		return NULL;
	}
	old_ring.bytes = 0;
	/* A core dump is the program's: it has no use for our ring. */
	madvise(ring, bytes, MADV_DONTDUMP);
	return ring;
}

/*
 * A handler that is at work, or was preempted in its midst, goes on with agent.ring: that stays, and
 * leads to zeros.
 */
void handshake_leave(void)
{
	struct ring_header *ring = agent.ring;

	if (ring == NULL || agent.has_left)
		return;
	agent.has_left = true;
	environment_note_recorder_gone();
	MECHANISMS_DO(stop, ());
	arch_syscall6(SYS_mmap, (long)ring, (long)agent.terms.bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	/* No room: what threads that end would send is counted, and dropped. */
	__atomic_store_n(&ring->head, agent.terms.word_count, __ATOMIC_RELAXED);
	old_ring.ring = ring;
	old_ring.bytes = agent.terms.bytes;
}

/*
 * is_first: the process was not sampled, nor was its parent.  is_alone: the calling thread is all
 * there is.
 */
static void handshake_begin_sampling(struct ring_header *ring, bool is_first, bool is_alone)
{
	agent.has_timers = agent.terms.flags & RING_TIMER;
	agent.has_left = false;
	/* The recorder's events count already, and the thread's account has not begun: no samples. */
	thread_notes = (struct thread_notes){ .tid = is_alone ? agent.pid : gettid(),
					      .attach = agent.attaches,
					      .is_in_agent = true };
	/* Pairs with the acquire in on_trap(). */
	__atomic_store_n(&agent.ring, ring, __ATOMIC_RELEASE);
	environment_set_period(agent.terms.period_ns);
	MECHANISMS_DO(begin, (ring, is_first));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread_notes.is_in_agent = false;
}

void handshake_run(u32 occasion, u32 reason)
{
	struct handshake_answer answer;
	struct ring_header *ring = NULL;
	int saved_errno = errno;
	int ring_fd;

	agent.pid = getpid();
	agent.may_be_trapped = false;
	if (occasion == HANDSHAKE_FORK && reason == HANDSHAKE_NO_REASON)
		reason = lasting_reason;
	const struct words words = { .occasion = occasion, .reason = reason };
	const bool is_answered = handshake_exchange(&words, &answer, &ring_fd);

	if (is_answered && answer.verdict == HANDSHAKE_SAMPLE && ring_fd >= 0)
		ring = handshake_map_ring(ring_fd, answer.ring_bytes);
	if (is_answered && answer.verdict == HANDSHAKE_LEAVE)
		agent.may_be_trapped = false;
	if (ring_fd >= 0)
		handshake_close(ring_fd);
	if (ring != NULL)
		handshake_begin_sampling(
			ring, occasion == HANDSHAKE_START || occasion == HANDSHAKE_ATTACH,
			is_beginning(occasion));
	errno = saved_errno;
}

bool handshake_reaches_recorder(void)
{
	const int fd = !environment_recorder_is_gone() && handshake_find_recorder()
			       ? handshake_connect()
			       : -1;

	if (fd >= 0)
		handshake_close(fd);
	return fd >= 0;
}

/* Says STOP or RESUME; true when the recorder has done it. */
static bool handshake_ask(const struct words *words)
{
	struct handshake_answer answer;
	int ring_fd;

	/* A filter that the program put up may kill who opens a socket. */
	if (!__atomic_load_n(&agent.may_call, __ATOMIC_RELAXED))
		return false;
	const bool is_done = handshake_exchange(words, &answer, &ring_fd) &&
			     answer.verdict == HANDSHAKE_DONE;

	if (ring_fd >= 0)
		handshake_close(ring_fd);
	return is_done;
}

bool handshake_stop(u32 reason)
{
	MECHANISMS_DO(hold_hello, ());
	/* Traps that come all the same are nobody's in an image that is not sampled. */
	if (agent.ring == NULL || lasting_reason != HANDSHAKE_NO_REASON)
		return true;
	if (!handshake_ask(&(struct words){ .occasion = HANDSHAKE_STOP, .reason = reason }))
		return false;
	/* What the recorder cannot reach. */
	MECHANISMS_DO(stop, ());
	if (reason == HANDSHAKE_SECOND_LIBC || reason == HANDSHAKE_NO_RETURN)
		lasting_reason = reason;
	return true;
}

void handshake_tell_exec(u32 reason)
{
	handshake_ask(&(struct words){ .occasion = HANDSHAKE_STOP, .reason = reason });
}

void handshake_yield_to_tracer(u32 target)
{
	const struct words words = {
		.occasion = HANDSHAKE_STOP,
		.reason = HANDSHAKE_DEBUGGER,
		.target = target,
	};

	handshake_ask(&words);
}

void handshake_resume(void)
{
	MECHANISMS_DO(release_hello, ());
	/* What it had stopped for before an exec that failed is not over. */
	if (agent.ring == NULL || lasting_reason != HANDSHAKE_NO_REASON)
		return;
	if (handshake_ask(&(struct words){ .occasion = HANDSHAKE_RESUME }))
		MECHANISMS_DO(resume, (agent.ring));
}

void handshake_tell_loaded(void)
{
	handshake_ask(&(struct words){ .occasion = HANDSHAKE_LOADED });
}

AGENT_START void handshake_forget(void)
{
	struct ring_header *ring = agent.ring;

	agent.ring = NULL;
	if (old_ring.bytes != 0)
		old_ring.bytes = 0;
	MECHANISMS_DO(forget, ());
	if (ring != NULL)
		handshake_unmap(ring, agent.terms.bytes);
}
