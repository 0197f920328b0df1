/*
 * handshake - registers this process with the recorder and maps its ring, in bounded time.
 *
 * Runs in the constructor, in children of fork, at an attach, before the program does what traps
 * would harm, and, for a delayed one, in the handler of its timer (sample/delayed_handshake.c).
 * Whatever fails in it, the process runs on unsampled, and the recorder, which saw it start,
 * names it.
 *
 * recorder_socket.h carries the messages.  The ring is mapped if its memory can never be made
 * shorter, and used if its figures are sound (abi/ring_terms.h).
 */
#include "agent/core/handshake.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "abi/ring.h"
#include "agent/core/own_handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/environment.h"
#include "agent/core/mechanism.h"
#include "agent/core/recorder_socket.h"
#include "agent/core/thread_notes.h"

/* The place of the ring of a recorder that has left; the next of that size is mapped there. */
static struct {
	struct ring_header *ring;
	u64 bytes;
} old_ring;
/* Why this process and its children of fork are not sampled any more. */
static u32 lasting_reason;

/*
 * Whether the memory has the announced size and keeps it, so that no access within it can fault.
 * Only memory of memfd_create() has seals.
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
	if (ring_read_terms(ring, bytes, &own_ring.terms) < 0) {
		handshake_unmap(ring, bytes);
		old_ring.bytes = 0;
		return NULL;
	}
	old_ring.bytes = 0;
	/* A core dump is the program's: it has no use for our ring. */
	arch_syscall4(SYS_madvise, (long)ring, (long)bytes, MADV_DONTDUMP, 0);
	return ring;
}

/* own_ring.header stays, over zeros: another thread's handler goes on using it. */
void handshake_leave(void)
{
	struct ring_header *ring = own_ring.header;

	if (ring == NULL || own_ring.has_left)
		return;
	own_ring.has_left = true;
	environment_note_recorder_gone();
	MECHANISMS_DO(stop, ());
	arch_syscall6(SYS_mmap, (long)ring, (long)own_ring.terms.bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	/* The ring is made to look full: records of threads that end are counted, and dropped. */
	__atomic_store_n(&ring->head, own_ring.terms.word_count, __ATOMIC_RELAXED);
	old_ring.ring = ring;
	old_ring.bytes = own_ring.terms.bytes;
}

/* is_first: neither process nor parent was sampled.  is_alone: there is no other thread. */
static void handshake_begin_sampling(struct ring_header *ring, bool is_first, bool is_alone)
{
	own_ring.has_timers = own_ring.terms.flags & RING_TIMER;
	own_ring.has_left = false;
	/* is_in_agent: no samples while the thread's account has not begun. */
	thread_notes = (struct thread_notes){
		.tid = is_alone ? own_process.pid : (int)arch_syscall4(SYS_gettid, 0, 0, 0, 0),
		.attach = own_handshake.attaches,
		.is_in_agent = true
	};
	/* Pairs with the acquire in on_trap(). */
	__atomic_store_n(&own_ring.header, ring, __ATOMIC_RELEASE);
	environment_set_period(own_ring.terms.period_ns);
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

	own_process.pid = (int)arch_syscall4(SYS_getpid, 0, 0, 0, 0);
	own_handshake.may_be_trapped = false;
	if (occasion == HANDSHAKE_FORK && reason == HANDSHAKE_NO_REASON)
		reason = lasting_reason;
	const struct recorder_question question = { .occasion = occasion, .reason = reason };
	const bool is_answered = recorder_socket_ask(&question, &answer, &ring_fd);

	if (is_answered && answer.verdict == HANDSHAKE_SAMPLE && ring_fd >= 0)
		ring = handshake_map_ring(ring_fd, answer.ring_bytes);
	if (is_answered && answer.verdict == HANDSHAKE_LEAVE)
		own_handshake.may_be_trapped = false;
	if (ring_fd >= 0)
		recorder_socket_close(ring_fd);
	if (ring != NULL)
		handshake_begin_sampling(
			ring, occasion == HANDSHAKE_START || occasion == HANDSHAKE_ATTACH,
			recorder_question_is_beginning(occasion));
	errno = saved_errno;
}

/* Asks for STOP, RESUME or LOADED; true if the recorder has done it. */
static bool handshake_ask(const struct recorder_question *question)
{
	struct handshake_answer answer;
	int ring_fd;

	/* A seccomp filter of the program's may kill for opening a socket. */
	if (!__atomic_load_n(&permits.may_call, __ATOMIC_RELAXED))
		return false;
	const bool is_done = recorder_socket_ask(question, &answer, &ring_fd) &&
			     answer.verdict == HANDSHAKE_DONE;

	if (ring_fd >= 0)
		recorder_socket_close(ring_fd);
	return is_done;
}

bool handshake_stop(u32 reason)
{
	MECHANISMS_DO(hold_handshake, ());
	/* Not sampled, or its events are off for good. */
	if (own_ring.header == NULL || lasting_reason != HANDSHAKE_NO_REASON)
		return true;
	if (!handshake_ask(&(struct recorder_question){ .occasion = HANDSHAKE_STOP,
							.reason = reason }))
		return false;
	/* The agent's own timers, which the recorder cannot stop. */
	MECHANISMS_DO(stop, ());
	if (reason == HANDSHAKE_SECOND_LIBC || reason == HANDSHAKE_NO_RETURN)
		lasting_reason = reason;
	return true;
}

void handshake_report_exec(u32 reason)
{
	handshake_ask(
		&(struct recorder_question){ .occasion = HANDSHAKE_STOP, .reason = reason });
}

void handshake_yield_to_debugger(u32 target)
{
	const struct recorder_question question = {
		.occasion = HANDSHAKE_STOP,
		.reason = HANDSHAKE_DEBUGGER,
		.target = target,
	};

	handshake_ask(&question);
}

void handshake_resume(void)
{
	MECHANISMS_DO(release_handshake, ());
	/* A lasting reason is not over because an exec failed. */
	if (own_ring.header == NULL || lasting_reason != HANDSHAKE_NO_REASON)
		return;
	if (handshake_ask(&(struct recorder_question){ .occasion = HANDSHAKE_RESUME }))
		MECHANISMS_DO(resume, (own_ring.header));
}

void handshake_report_loaded(void)
{
	handshake_ask(&(struct recorder_question){ .occasion = HANDSHAKE_LOADED });
}

AGENT_START void handshake_forget(void)
{
	struct ring_header *ring = own_ring.header;

	own_ring.header = NULL;
	if (old_ring.bytes != 0)
		old_ring.bytes = 0;
	MECHANISMS_DO(forget, ());
	if (ring != NULL)
		handshake_unmap(ring, own_ring.terms.bytes);
}
