#include "agent/signals/faults.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "abi/ring.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/memory.h"
#include "agent/signals/altstack.h"
#include "agent/signals/fault_actions.h"
#include "agent/signals/saved_action.h"
#include "agent/signals/kernel_action.h"
#include "agent/signals/signals.h"

/* The list of all loads that may fault, which the linker joins. */
struct listed_load {
	s32 instruction, go_on_at; /* offsets from the field itself */
};
extern const struct listed_load loads_begin[] __asm__("__start_" ARCH_LOADS_SECTION)
	__attribute__((visibility("hidden")));
extern const struct listed_load loads_end[] __asm__("__stop_" ARCH_LOADS_SECTION)
	__attribute__((visibility("hidden")));

enum { NOT_BEGUN, BEGINNING, BEGUN };

static struct {
	u32 state;
	bool is_over; /* a signal is killing the program: no load of ours may fault any more */
	u32 need;     /* bytes of stack for a fault in our handler */
} faults AGENT_STATE;

/* faults_entry(), the kernel's handler, goes on at the address that faults_choose() returns. */
__attribute__((used, visibility("hidden"))) u64 faults_choose(int signal, siginfo_t *info,
							      ucontext_t *context);
ARCH_CHOOSING_HANDLER(faults_entry, faults_choose);

/* The first thread that asks begins it; others read by copies meanwhile. */
static bool has_begun(void)
{
	u32 state = __atomic_load_n(&faults.state, __ATOMIC_ACQUIRE);

	if (state == NOT_BEGUN && permits.may_call && own_process.is_trap_ours &&
	    __atomic_compare_exchange_n(&faults.state, &state, BEGINNING, 0, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		/* Two frames, for is_of_load()'s reason. */
		faults.need = 2 * (u32)altstack_frame_bytes() + 2 * AGENT_STACK_NEED;
		if (!fault_actions_begin())
			return false;
		state = BEGUN;
		__atomic_store_n(&faults.state, state, __ATOMIC_RELEASE);
	}
	return state == BEGUN && fault_actions_are_kept();
}

bool faults_are_wanted(void)
{
#ifdef FAULTS_ALWAYS
	return true;
#else
	const struct ring_header *ring = own_ring.header;

	return ring != NULL && (__atomic_load_n(&ring->has_python, __ATOMIC_RELAXED) ||
				__atomic_load_n(&ring->has_ruby, __ATOMIC_RELAXED));
#endif
}

/*
 * Disables the alternate stack, which the program may have given up past us, until our handler
 * returns: sigreturn restores it from the frame.  Not if our handler runs on it: a fault's frame
 * then is put below ours.
 */
static bool leave_alternate_stack(const ucontext_t *context, u64 here)
{
	const stack_t none = { .ss_flags = SS_DISABLE };

	if (context->uc_stack.ss_size == 0 || altstack_of_context_holds(context, here))
		return true;
	return permits.may_call && arch_syscall4(SYS_sigaltstack, (long)&none, 0, 0, 0) == 0;
}

/* The program may have set an action by a raw system call. */
static bool is_still_in_kernel(void)
{
	struct kernel_action now;

	return !permits.may_call ||
	       (kernel_action_get(SIGSEGV, &now) && fault_actions_is_ours(&now));
}

/*
 * Whether SIGSEGV or SIGBUS is blocked, so that a fault kills.  Our handler runs with the
 * interrupted code's mask, which the context has.  But if it interrupted a wait with a mask of
 * its own (sigsuspend(), ppoll()), the context has the mask from before the wait.
 */
static bool are_blocked(const ucontext_t *context)
{
	u64 now = signals_of(&context->uc_sigmask);

	if (ARCH_RESULT_OF(context) == -EINTR) {
		if (!permits.may_call)
			return true;
		masks_get(&now);
	}
	return now & SIGNALS_OF_FAULTS;
}

/* Whether the stack has room for a fault's signal below `here`. */
static bool has_room(const struct mem *mem, u64 here)
{
	if (altstack_of_context_holds(mem->context, here))
		return altstack_room(mem->context, here) >= faults.need;
	if (here > mem->shown_low && here < mem->shown_high)
		return here - mem->shown_low >= faults.need;
	return memory_has_own_room(here, faults.need);
}

bool faults_may_come(const struct mem *mem, u64 here)
{
	struct sigaction segv, bus;

	if (are_blocked(mem->context) || !has_begun() ||
	    __atomic_load_n(&faults.is_over, __ATOMIC_RELAXED) || !has_room(mem, here))
		return false;
	fault_actions_read(SIGSEGV, &segv);
	fault_actions_read(SIGBUS, &bus);
	if (segv.sa_handler == SIG_IGN || bus.sa_handler == SIG_IGN || !is_still_in_kernel())
		return false;
	return !((segv.sa_flags | bus.sa_flags) & SA_ONSTACK) ||
	       leave_alternate_stack(mem->context, here);
}

/* True if the fault is a listed load's, which then goes on as failed. */
static bool fail_load(ucontext_t *context)
{
	const u64 pc = ARCH_PC_OF(context);

	for (const struct listed_load *load = loads_begin; load < loads_end; load++) {
		if ((u64)&load->instruction + (u64)(s64)load->instruction != pc)
			continue;
		arch_fail_load(context, (u64)&load->go_on_at + (u64)(s64)load->go_on_at);
		return true;
	}
	return false;
}

#ifndef BUS_MCEERR_AO
#define BUS_MCEERR_AO 5
#endif

/* Whether the interrupted instruction raised the signal, not a process that sent it. */
static bool is_fault(int signal, const siginfo_t *info)
{
	return info->si_code > 0 && !(signal == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

/*
 * Has the process killed by the signal where the thread was interrupted.  The signal is sent
 * again, since it may not be a fault that happens again.  SIGTRAP is ignored first: a pending
 * one would have this signal delivered in here (is_of_load()), or would be delivered instead.
 * Where no system call may be made, the signal is blocked: the kernel kills for a blocked fault
 * without calling a handler.
 */
static void die_of(int signal, const siginfo_t *info, ucontext_t *context)
{
	const u64 mask = signals_of(&context->uc_sigmask);
	const struct kernel_action standard = { 0 }, ignored = { .handler = (u64)SIG_IGN };
	const u64 all = ~0ULL;

	if (!permits.may_call && is_fault(signal, info)) {
		signals_put(&context->uc_sigmask, mask | SIGNAL_BIT(signal));
		return;
	}
	/* A vfork child dies alone. */
	if (!agent_is_of_another())
		__atomic_store_n(&faults.is_over, true, __ATOMIC_RELAXED);
	signals_put(&context->uc_sigmask, mask & ~SIGNAL_BIT(signal));
	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, sizeof all);
	fault_actions_set_in_kernel(SIGTRAP, &ignored, NULL);
	fault_actions_set_in_kernel(signal, &standard, NULL);
	signal_this_thread(signal, info);
}

/*
 * Whether a listed load faulted.  Of two signals that instructions raise, the kernel delivers the
 * older first, even if it is blocked (6.18: kernel/signal.c, dequeue_synchronous_signal()), as a
 * trap of ours is that came while our handler ran.  Then a second on_trap() interrupts the load,
 * and the fault is reported at its first instruction; the load's context is its third argument.
 */
static bool is_of_load(ucontext_t *context)
{
	if (ARCH_PC_OF(context) != (u64)on_trap)
		return fail_load(context);
	if (!fail_load((ucontext_t *)ARCH_THIRD_ARGUMENT_OF(context)))
		return false;
	trap_leave_to_next(context);
	return true;
}

/*
 * SIGSEGV and SIGBUS that a process sent while the thread was in our handler, which does not
 * block them; a second one is dropped, as the kernel does.
 */
static __thread struct {
	bool is_any;
	bool is_set[FAULT_SIGNALS];
	siginfo_t infos[FAULT_SIGNALS];
} put_off;

/* Only in our handler are all of these blocked and the signal that came is not. */
#define TRAP_HANDLER_BLOCKS (TRAP_BIT | SIGNAL_BIT(32) | SIGNAL_BIT(33))

static bool is_in_trap(const ucontext_t *context)
{
	return (~signals_of(&context->uc_sigmask) & TRAP_HANDLER_BLOCKS) == 0;
}

static void put_off_signal(int signal, const siginfo_t *info)
{
	const u32 index = signal == SIGBUS;

	if (put_off.is_set[index])
		return;
	put_off.infos[index] = *info;
	put_off.is_set[index] = put_off.is_any = true;
}

void faults_end_trap(void)
{
	const u64 set = SIGNALS_OF_FAULTS;

	if (!put_off.is_any)
		return;
	/* Blocked until our handler returns. */
	arch_syscall4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, sizeof set);
	put_off.is_any = false;
	for (u32 i = 0; i < FAULT_SIGNALS; i++) {
		if (put_off.is_set[i])
			signal_this_thread(fault_signals[i], &put_off.infos[i]);
		put_off.is_set[i] = false;
	}
}

u64 faults_choose(int signal, siginfo_t *info, ucontext_t *context)
{
	struct sigaction action;

	if (is_fault(signal, info) && is_of_load(context))
		return 0;
	if (!is_fault(signal, info) && permits.may_call && is_in_trap(context)) {
		put_off_signal(signal, info);
		return 0;
	}
	fault_actions_take(signal, &action);
	if (saved_action_is_handler(&action))
		return (u64)action.sa_handler;
	if (action.sa_handler == SIG_DFL)
		die_of(signal, info, context);
	return 0;
}
