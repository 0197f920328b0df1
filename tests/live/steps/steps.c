/*
 * steps - the agent, with a sample at every instruction.
 *
 * A sample's handler sets the processor's trap flag in what it returns to, so that SIGTRAP
 * comes again behind the next instruction, and so on for STEPS of them; then the program runs
 * freely until the event after the next (the steps themselves take more than a period).  The
 * agent's own handler (trap.c, built as agent_on_trap) takes each of them for a trap of its
 * event.  No event has counted a period for a step: weights are the thread's clock, as where timers
 * trigger.
 *
 * A trap of a single step kills a thread that has it blocked.  libc does so around clone() and where
 * threads end, with system calls of its own: before those the steps end.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "abi/handshake.h"
#include "agent/core/own_ring.h"
#include "agent/core/thread_notes.h"
#include "abi/ring.h"
#include "agent/core/arch.h"
#include "agent/signals/signals.h"

#ifndef STEPS
#define STEPS 5000
#endif
/* Room for the largest records of one sample, and for what other threads send meanwhile. */
#define ROOM_WORDS 32768
#define TRAP_FLAG  0x100

void agent_on_trap(int signal, siginfo_t *info, void *context);

static __thread u32 steps_left;
static __thread bool has_rested;

/* Waits until the recorder has made room: no step may be lost. */
static void wait_for_room(struct ring_header *ring)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	while (!ring_has_room(ring, own_ring.terms.word_count, ROOM_WORDS))
		arch_syscall4(SYS_nanosleep, (long)&pause, 0, 0, 0);
}

/* Whether the next instruction is a system call that changes masks, threads or the program. */
static bool is_dangerous(const ucontext_t *context)
{
	const u8 *code = (const u8 *)ARCH_PC_OF(context);

	if (code[0] != ARCH_CALL[0] || code[1] != ARCH_CALL[1])
		return false;
	switch (context->uc_mcontext.gregs[REG_RAX]) {
	case SYS_rt_sigprocmask:
	case SYS_rt_sigreturn:
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
	case SYS_execve:
	case SYS_exit:
	case SYS_exit_group:
		return true;
	default:
		return false;
	}
}

static void as_event(siginfo_t *info)
{
	const u64 mark = HANDSHAKE_EVENT_MARK;

	info->si_code = TRAP_PERF;
	__builtin_memcpy((char *)info + 24, &mark, sizeof mark);
}

void on_trap(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	struct ring_header *ring = own_ring.header;
	siginfo_t event = *info;
	/* On a virtual machine a step may be reported with another code of the processor's. */
	const bool is_step =
		info->si_code == TRAP_TRACE ||
		(steps_left > 0 && info->si_code > 0 && info->si_code != TRAP_PERF);

	if (is_step && steps_left > 0) {
		steps_left--;
	} else if (info->si_code == TRAP_PERF && steps_left == 0) {
		steps_left = has_rested ? STEPS : 0;
		has_rested = !has_rested;
	}
	if (is_step)
		as_event(&event);
	if (ring != NULL) {
		wait_for_room(ring);
		thread_notes.is_by_timers = true;
		agent_on_trap(signal, &event, context);
	}
	if (steps_left > 0 && ring != NULL && !is_dangerous(context)) {
		context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	} else {
		steps_left = 0;
		context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	}
}
