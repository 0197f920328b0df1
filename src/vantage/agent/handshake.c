/*
 * handshake - hello to the recorder, and the ring from it, in bounded time.
 *
 * Runs in the constructor and in children of fork, never in a handler.  Every failure means
 * one thing: this process runs on unsampled, and the recorder, who saw it start, names it.
 */
#include "vantage/agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "abi/handshake.h"

/* Kept from the constructor on: children of fork may have changed the environment. */
static struct sockaddr_un recorder_address;

static bool handshake_find_recorder(void)
{
	const char *path = getenv(HANDSHAKE_SOCKET_VARIABLE);

	if (recorder_address.sun_path[0] != '\0')
		return true;
	if (path == NULL || path[0] == '\0' || strlen(path) >= sizeof recorder_address.sun_path)
		return false;
	recorder_address.sun_family = AF_UNIX;
	strcpy(recorder_address.sun_path, path);
	return true;
}

static int handshake_connect(void)
{
	const struct timeval patience = { .tv_usec = HANDSHAKE_TIMEOUT_MS * 1000 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (connect(fd, (const struct sockaddr *)&recorder_address, sizeof recorder_address) <
	    0) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool handshake_say_hello(int fd, unsigned int occasion)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	struct handshake_hello hello = {
		.magic = HANDSHAKE_MAGIC,
		.occasion = occasion,
		.pid = (u32)agent.pid,
		.tid = (u32)syscall(SYS_gettid),
		.time_ns = (u64)now.tv_sec * 1000000000ULL + (u64)now.tv_nsec,
	};

	strncpy(hello.name, program_invocation_short_name, sizeof hello.name - 1);

	return send(fd, &hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello;
}

/* The answer, and the ring's descriptor in *out_ring_fd (-1: none). */
static bool handshake_hear_answer(int fd, struct handshake_answer *out_answer, int *out_ring_fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = out_answer, .iov_len = sizeof *out_answer };
	struct msghdr message = { .msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof control };
	ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *first = got < 0 ? NULL : CMSG_FIRSTHDR(&message);

	*out_ring_fd = -1;
	if (first != NULL && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS)
		memcpy(out_ring_fd, CMSG_DATA(first), sizeof *out_ring_fd);
	return got == (ssize_t)sizeof *out_answer && out_answer->magic == HANDSHAKE_MAGIC;
}

static struct ring_header *handshake_map_ring(int ring_fd, u64 bytes)
{
	struct ring_header *ring =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);

	if (ring == MAP_FAILED)
		return NULL;
	if (ring->magic != RING_MAGIC || ring->version != RING_VERSION) {
		munmap(ring, bytes);
		return NULL;
	}
	return ring;
}

static void handshake_begin_sampling(struct ring_header *ring)
{
	agent.has_timers = ring->flags & RING_TIMER;
	thread_notes = (struct thread_notes){ .tid = (int)syscall(SYS_gettid),
					      .is_trap_masked = thread_notes.is_trap_masked };
	/* Pairs with the acquire in on_trap(). */
	__atomic_store_n(&agent.ring, ring, __ATOMIC_RELEASE);
	masks_begin_thread();
	clock_begin_thread();
	ring->start_cpu_ns = clock_process_ns(ring);
	if (agent.has_timers) {
		timers_init();
		timers_arm_thread(ring->period_ns);
	}
}

void handshake_run(unsigned int occasion)
{
	struct handshake_answer answer;
	struct ring_header *ring = NULL;
	int saved_errno = errno;
	int ring_fd = -1;

	agent.pid = getpid();
	int fd = handshake_find_recorder() ? handshake_connect() : -1;

	if (fd >= 0) {
		if (handshake_say_hello(fd, occasion) &&
		    handshake_hear_answer(fd, &answer, &ring_fd) &&
		    answer.verdict == HANDSHAKE_SAMPLE && ring_fd >= 0)
			ring = handshake_map_ring(ring_fd, answer.ring_bytes);
		close(fd);
	}
	if (ring_fd >= 0)
		close(ring_fd);
	if (ring != NULL)
		handshake_begin_sampling(ring);
	errno = saved_errno;
}

void handshake_forget(void)
{
	struct ring_header *ring = agent.ring;

	agent.ring = NULL;
	agent.scratches_in_use = 0;
	if (ring != NULL)
		munmap(ring, RING_HEADER_BYTES + ring->word_count * sizeof(u64));
}
