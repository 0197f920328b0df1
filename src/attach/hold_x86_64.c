/* Stops a thread by ptrace on x86-64 and executes system calls on it (hold.h). */
#include "attach/hold.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "attach/frame.h"
#include "attach/libc.h"
#include "attach/peek.h"
#include "base/error.h"
#include "base/monotonic.h"
#include "target/maps.h"

#define KERNEL_SIGSET_BYTES 8
#define STOP_PATIENCE_NS    5000000000ULL
#define STOPS_MAX           64
#define LOOKS_AT_ONCE       1000 /* before we sleep between them */
#define PENDING_MAX         32
#define CALL_STOP           (SIGTRAP | 0x80)
#define EVENT_OF(status)    ((status) >> 16)
/* The stack must have so many more bytes below the frame, as signal handlers need. */
#define STACK_LEFT 1024
/* Clears the trap and direction flags; arithmetic flags stay. */
#define FLAGS_CLEARED 0x500ULL

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif
struct rseq_configuration {
	uint64_t address;
	uint32_t size, signature, flags, padding;
};
#define RSEQ_CRITICAL_OFFSET 8 /* struct rseq, rseq_cs */

static int trace(int request, pid_t tid, uintptr_t address, const void *data)
{
	return ptrace(request, tid, (void *)address, data) < 0 ? -errno : 0;
}

/* The thread's next stop; -ESRCH when it has ended, -ETIMEDOUT when it does not stop. */
static int wait_for_stop(pid_t tid, int *out_status)
{
	const uint64_t begin_ns = monotonic_ns();
	unsigned looks = 0;
	const struct timespec pause = { .tv_nsec = 50000 };

	for (;;) {
		const pid_t got = waitpid(tid, out_status, __WALL | WNOHANG);

		if (got == tid)
			return WIFSTOPPED(*out_status) ? 0 : -ESRCH;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (monotonic_ns() - begin_ns > STOP_PATIENCE_NS)
			return -ETIMEDOUT;
		if (++looks < LOOKS_AT_ONCE)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
}

static void let_go(struct hold *hold)
{
	trace(PTRACE_DETACH, hold->tid, 0, NULL);
	hold->is_stopped = false;
}

/* Waits for the stop that we asked for; passes on signals that come before. */
static int wait_for_event(struct hold *hold, const char **out_why)
{
	int status;

	for (int i = 0; i < STOPS_MAX; i++) {
		const int rc = wait_for_stop(hold->tid, &status);

		if (rc < 0)
			return rc;
		const int signal = WSTOPSIG(status);

		if (EVENT_OF(status) == PTRACE_EVENT_STOP) {
			hold->is_stopped = true;
			if (signal == SIGTRAP)
				return 0;
			*out_why = "it is stopped (SIGSTOP)";
			let_go(hold);
			return -EAGAIN;
		}
		trace(PTRACE_CONT, hold->tid, 0,
		      (void *)(intptr_t)(EVENT_OF(status) ? 0 : signal));
	}
	return -ETIMEDOUT;
}

/* In a restartable sequence, changing the instruction pointer would prevent its abort (rseq(2)). */
static bool is_in_sequence(pid_t tid)
{
	struct rseq_configuration found = { 0 };
	uint64_t critical = 0;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof found, &found) < 0 ||
	    found.address == 0)
		return false;
	return peek(tid, found.address + RSEQ_CRITICAL_OFFSET, &critical, sizeof critical) <
		       0 ||
	       critical != 0;
}

/* Whether an unblocked signal is pending, for the thread or the process. */
static bool is_about_to_handle(const struct hold *hold)
{
	siginfo_t infos[PENDING_MAX];

	for (uint32_t shared = 0; shared < 2; shared++) {
		const struct __ptrace_peeksiginfo_args queue = {
			.flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0,
			.nr = PENDING_MAX,
		};
		const long count = ptrace(PTRACE_PEEKSIGINFO, hold->tid, &queue, infos);

		for (long i = 0; i < count; i++) {
			if (!(hold->mask >> (infos[i].si_signo - 1) & 1))
				return true;
		}
	}
	return false;
}

/*
 * The first step at a stop; returns why the thread cannot be used, or NULL.  Sets its registers
 * at once so that, if the recorder is killed from here on, the interrupted system call is
 * restarted.  If a signal is pending, the kernel must decide what the call returns.
 */
static const char *why_unfit(struct hold *hold)
{
	if (trace(PTRACE_GETREGS, hold->tid, 0, &hold->stopped) < 0 ||
	    ptrace(PTRACE_GETSIGMASK, hold->tid, KERNEL_SIGSET_BYTES, &hold->mask) < 0)
		return "its registers cannot be read";
	if (is_about_to_handle(hold))
		return "a signal is about to be handled";
	const char *why = home_of(&hold->stopped, &hold->home);

	if (why == NULL && hold->home.is_in_call &&
	    trace(PTRACE_SETREGS, hold->tid, 0, &hold->home.resumed) < 0)
		return "its registers cannot be written";
	if (why != NULL)
		return why;
	return is_in_sequence(hold->tid) ? "it is in a restartable sequence" : NULL;
}

int hold_look(pid_t pid, pid_t tid, struct hold *out_hold, const char **out_why,
	      struct error *err)
{
	*out_hold = (struct hold){ .pid = pid, .tid = tid };
	int rc = trace(PTRACE_SEIZE, tid, 0, (void *)PTRACE_O_TRACESYSGOOD);

	if (rc < 0)
		return error_errno(err, rc, "thread %d cannot be stopped", (int)tid);
	trace(PTRACE_INTERRUPT, tid, 0, NULL);
	rc = wait_for_event(out_hold, out_why);
	if (rc == -EAGAIN)
		return rc;
	if (rc < 0)
		return error_errno(err, rc, "thread %d does not stop", (int)tid);
	*out_why = why_unfit(out_hold);
	return 0;
}

void hold_leave(struct hold *hold)
{
	if (hold->is_stopped)
		let_go(hold);
}

int hold_begin(pid_t pid, pid_t tid, struct hold *out_hold, const char **out_why,
	       struct error *err)
{
	const int rc = hold_look(pid, tid, out_hold, out_why, err);

	if (rc < 0 || *out_why == NULL)
		return rc;
	hold_leave(out_hold);
	return -EAGAIN;
}

/* Whether the frame is in the stack pointer's mapping, and not too near its end. */
static bool has_room(const struct maps *maps, uint64_t stack_pointer, uint64_t place)
{
	const struct mapping *stack = maps_find(maps, stack_pointer);

	return stack != NULL && stack->is_writable && place >= stack->start + STACK_LEFT;
}

static int write_frame(struct hold *hold, const struct attach_libc *libc,
		       const struct maps *maps, uint64_t *out_place, const char **out_why)
{
	uint8_t state[FRAME_STATE_MAX], frame[FRAME_STATE_MAX + 2048];
	struct iovec there = { state, sizeof state };

	*out_why = "its vector registers are of an unknown kind";
	if (ptrace(PTRACE_GETREGSET, hold->tid, NT_X86_XSTATE, &there) < 0)
		return -EAGAIN;
	const size_t bytes = frame_state_bytes(state, there.iov_len);

	if (bytes == 0)
		return -EAGAIN;
	const uint64_t place = frame_place(hold->stopped.rsp, bytes);
	const struct frame_input input = {
		.registers = &hold->home.restored,
		.signal_mask = hold->mask,
		.restorer = libc->restorer,
		.state = state,
		.state_bytes = bytes,
	};

	frame_write(&input, place, frame);
	*out_why = "its stack has no room for a signal";
	if (!has_room(maps, hold->stopped.rsp, place) ||
	    poke(hold->pid, place, frame, frame_bytes(bytes)) < 0)
		return -EAGAIN;
	*out_place = place;
	return 0;
}

/*
 * In a process with one thread, libc's malloc takes no lock: no second thread may start while the
 * first is in it.  A thread that waits in a system call is not in malloc.
 */
static bool may_be_in_malloc(const struct hold *hold, const struct attach_libc *libc)
{
	return !hold->home.is_in_call && hold->stopped.rip >= libc->start &&
	       hold->stopped.rip < libc->end;
}

int hold_borrow(struct hold *hold, const struct attach_libc *libc, const struct maps *maps,
		bool is_alone, const char **out_why, struct error *err)
{
	const uint64_t all = ~0ULL;
	uint64_t place;
	int rc = 0;

	*out_why = "it is in the C library";
	if (is_alone && may_be_in_malloc(hold, libc))
		return -EAGAIN;
	rc = write_frame(hold, libc, maps, &place, out_why);
	if (rc < 0)
		return rc;
	hold->borrowed = hold->home.restored;
	hold->borrowed.rsp = place;
	hold->borrowed.rip = libc->syscall_return;
	hold->borrowed.eflags &= ~FLAGS_CLEARED;
	hold->borrowed.orig_rax = (unsigned long long)-1;
	/* getpid(), a harmless call, in case we die now. */
	hold->borrowed.rax = 39;
	/* First: if we died after setting the mask alone, signals would stay blocked. */
	rc = trace(PTRACE_SETREGS, hold->tid, 0, &hold->borrowed);
	if (rc < 0)
		return error_errno(err, rc, "cannot write registers of thread %d",
				   (int)hold->tid);
	hold->is_borrowed = true;
	rc = ptrace(PTRACE_SETSIGMASK, hold->tid, KERNEL_SIGSET_BYTES, &all) < 0 ? -errno : 0;
	return rc < 0 ? error_errno(err, rc, "cannot block signals of thread %d",
				    (int)hold->tid)
		      : 0;
}

/*
 * Runs to the next entry or exit of a system call; delays SIGSTOP and SIGCONT until the thread
 * goes on.
 */
static int step_to_call(struct hold *hold)
{
	int status, pass_on = 0;

	for (int i = 0; i < STOPS_MAX; i++) {
		int rc = trace(PTRACE_SYSCALL, hold->tid, 0, (void *)(intptr_t)pass_on);

		if (rc == 0) {
			hold->is_stopped = false;
			rc = wait_for_stop(hold->tid, &status);
		}
		if (rc < 0)
			return rc;
		hold->is_stopped = true;
		if (EVENT_OF(status) == 0 && WSTOPSIG(status) == CALL_STOP)
			return 0;
		pass_on = EVENT_OF(status) == 0 ? WSTOPSIG(status) : 0;
		if (pass_on != 0 && pass_on != SIGSTOP && pass_on != SIGCONT)
			return -EFAULT;
	}
	return -ETIMEDOUT;
}

int hold_call(struct hold *hold, long number, const uint64_t arguments[6], uint64_t r12,
	      int64_t *out_result, struct error *err)
{
	struct user_regs_struct registers = hold->borrowed;

	registers.rax = (unsigned long long)number;
	registers.rdi = arguments[0];
	registers.rsi = arguments[1];
	registers.rdx = arguments[2];
	registers.r10 = arguments[3];
	registers.r8 = arguments[4];
	registers.r9 = arguments[5];
	registers.r12 = r12;
	int rc = trace(PTRACE_SETREGS, hold->tid, 0, &registers);

	if (rc == 0)
		rc = step_to_call(hold);
	if (rc == 0)
		rc = step_to_call(hold);
	if (rc == 0)
		rc = trace(PTRACE_GETREGS, hold->tid, 0, &registers);
	if (rc < 0)
		return error_errno(err, rc, "a system call on thread %d failed",
				   (int)hold->tid);
	*out_result = (int64_t)registers.rax;
	return 0;
}

int hold_write_code(struct hold *hold, uint64_t address, const void *code, size_t bytes,
		    struct error *err)
{
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, (const char *)code + at,
		       bytes - at < sizeof word ? bytes - at : sizeof word);
		const int rc = trace(PTRACE_POKETEXT, hold->tid, address + at,
				     (const void *)(uintptr_t)word);

		if (rc < 0)
			return error_errno(err, rc, "cannot write code into process %d",
					   (int)hold->pid);
	}
	return 0;
}

void hold_end(struct hold *hold)
{
	if (!hold->is_stopped)
		return;
	if (hold->is_borrowed)
		ptrace(PTRACE_SETSIGMASK, hold->tid, KERNEL_SIGSET_BYTES, &hold->mask);
	trace(PTRACE_SETREGS, hold->tid, 0, &hold->home.resumed);
	let_go(hold);
}
