#include "agent/signals/faults.h"

#include <errno.h>
#include <sys/syscall.h>

#include "abi/ring.h"
#include "agent/core/agent.h"
#include "agent/core/agent_state.h"
#include "agent/core/memory.h"
#include "agent/signals/altstack.h"
#include "agent/signals/saved_action.h"
#include "agent/signals/kernel_action.h"
#include "agent/signals/signals.h"

/* What the linker makes of the lists of all our loads. */
struct listed_load {
	s32 instruction, go_on_at; /* each from where it stands itself */
};
extern const struct listed_load loads_begin[] __asm__("__start_" ARCH_LOADS_SECTION)
	__attribute__((visibility("hidden")));
extern const struct listed_load loads_end[] __asm__("__stop_" ARCH_LOADS_SECTION)
	__attribute__((visibility("hidden")));

static const int fault_signals[] = { SIGSEGV, SIGBUS };
#define FAULT_SIGNALS 2

enum { NOT_BEGUN, BEGINNING, BEGUN };

static struct {
	u32 state;
	bool is_kept; /* the actions are saved here */
	bool is_over; /* one that is the program's kills: no fault of ours may come any more */
	/* A process that agent_is_of_another() has set an action in the kernel. */
	bool is_set_past_us;
	u32 need; /* of the stack, for a fault in our handler */
	u64 restorer, restorer_flag;
	struct saved_action saved[FAULT_SIGNALS];
} faults AGENT_STATE;

/* The kernel's handler; goes on as faults_choose() says. */
void faults_entry(void) __attribute__((visibility("hidden")));
__attribute__((used, visibility("hidden"))) u64 faults_choose(int signal, siginfo_t *info,
							      ucontext_t *context);
ARCH_CHOOSING_HANDLER(faults_entry, faults_choose);

static struct saved_action *saved_action_of(int signal)
{
	return &faults.saved[signal == SIGBUS];
}

static long set_in_kernel(int signal, const struct kernel_action *action,
			  struct kernel_action *out_old)
{
	return arch_syscall4(SYS_rt_sigaction, signal, (long)action, (long)out_old,
			     sizeof action->mask);
}

static struct kernel_action kernel_action_of(const struct sigaction *action)
{
	return (struct kernel_action){
		.handler = (u64)action->sa_handler,
		.flags = (u32)action->sa_flags | faults.restorer_flag,
		.restorer = faults.restorer,
		.mask = signals_of(&action->sa_mask),
	};
}

static struct sigaction sigaction_of(const struct kernel_action *action)
{
	struct sigaction converted = {
		.sa_handler = (void (*)(int))action->handler,
		.sa_flags = (int)action->flags,
		.sa_restorer = (void (*)(void))action->restorer,
	};

	signals_put(&converted.sa_mask, action->mask);
	return converted;
}

static bool is_ours(const struct kernel_action *action)
{
	return action->handler == (u64)faults_entry;
}

/*
 * What the kernel is to have.  The default action has no alternate stack: a fault of ours
 * would be written to one that the program may have given up.
 */
static struct kernel_action shown_to_kernel(const struct sigaction *theirs)
{
	struct kernel_action shown = kernel_action_of(theirs);

	if (theirs->sa_handler == SIG_IGN)
		return shown;
	shown.handler = (u64)faults_entry;
	shown.flags = SA_SIGINFO | (shown.flags & ~(u64)SA_RESETHAND);
	if (theirs->sa_handler == SIG_DFL) {
		shown.flags = SA_SIGINFO | faults.restorer_flag;
		shown.mask = 0;
	}
	return shown;
}

/* Of several threads that install, the last finds the program's latest action. */
static long install(int signal, struct kernel_action *out_old)
{
	struct sigaction theirs;
	u32 number;
	long rc;

	do {
		number = saved_action_read(saved_action_of(signal), &theirs);
		const struct kernel_action shown = shown_to_kernel(&theirs);

		rc = set_in_kernel(signal, &shown, out_old);
	} while (rc == 0 && !saved_action_is_current(saved_action_of(signal), number));
	return rc;
}

/* Whether an action of the program's was set in between, and not saved. */
static bool is_other(const struct kernel_action *old, const struct sigaction *as_read)
{
	return !is_ours(old) && (old->handler != (u64)as_read->sa_handler ||
				 old->mask != signals_of(&as_read->sa_mask) ||
				 (u32)old->flags != (u32)as_read->sa_flags);
}

/* Takes over one signal, whose action is saved as it was read just before. */
static bool begin_with(int signal)
{
	struct sigaction as_read;
	struct kernel_action old;
	const u32 number = saved_action_read(saved_action_of(signal), &as_read);

	if (install(signal, &old) != 0)
		return false;
	if (is_other(&old, &as_read)) {
		const struct sigaction newer = sigaction_of(&old);

		saved_action_replace(saved_action_of(signal), number, &newer);
		install(signal, &old);
	}
	return true;
}

static bool faults_begin(void)
{
	struct kernel_action now;

	/* Two, as is_of_load() has it. */
	faults.need = 2 * (u32)altstack_frame_bytes() + 2 * AGENT_STACK_NEED;
	if (!kernel_action_get(SIGTRAP, &now))
		return false;
	faults.restorer = now.restorer;
	faults.restorer_flag = now.flags & KERNEL_RESTORER_FLAG;
	for (u32 i = 0; i < FAULT_SIGNALS; i++) {
		if (!kernel_action_get(fault_signals[i], &now))
			return false;
		const struct sigaction theirs = sigaction_of(&now);

		saved_action_write(saved_action_of(fault_signals[i]), &theirs);
	}
	__atomic_store_n(&faults.is_kept, true, __ATOMIC_RELEASE);
	return begin_with(SIGSEGV) && begin_with(SIGBUS);
}

/* By the first thread that asks; the others read by copies meanwhile. */
static bool has_begun(void)
{
	u32 state = __atomic_load_n(&faults.state, __ATOMIC_ACQUIRE);

	if (state == NOT_BEGUN && agent.may_call && agent.is_trap_ours &&
	    __atomic_compare_exchange_n(&faults.state, &state, BEGINNING, 0, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		if (!faults_begin())
			return false;
		state = BEGUN;
		__atomic_store_n(&faults.state, state, __ATOMIC_RELEASE);
	}
	return state == BEGUN && __atomic_load_n(&faults.is_kept, __ATOMIC_RELAXED);
}

bool faults_are_wanted(void)
{
#ifdef FAULTS_ALWAYS
	return true;
#else
	const struct ring_header *ring = agent.ring;

	return ring != NULL && (__atomic_load_n(&ring->has_python, __ATOMIC_RELAXED) ||
				__atomic_load_n(&ring->has_ruby, __ATOMIC_RELAXED));
#endif
}

/*
 * Not where our handler is on it: a fault's frame lies below ours then.  Else the program may have
 * given it up, past us.  The kernel gives it back when our handler returns: it is in the frame.
 */
static bool leave_alternate_stack(const ucontext_t *context, u64 here)
{
	const stack_t none = { .ss_flags = SS_DISABLE };

	if (context->uc_stack.ss_size == 0 || altstack_of_context_holds(context, here))
		return true;
	return agent.may_call && arch_syscall4(SYS_sigaltstack, (long)&none, 0, 0, 0) == 0;
}

/* The program may have set an action past libc. */
static bool is_still_in_kernel(void)
{
	struct kernel_action now;

	return !agent.may_call || (kernel_action_get(SIGSEGV, &now) && is_ours(&now));
}

/*
 * Then a fault kills.  Our handler runs with what was blocked when it began, which the context
 * shows; but for a wait with a mask of its own that was interrupted (sigsuspend(), ppoll()):
 * that shows the mask from before.
 */
static bool are_blocked(const ucontext_t *context)
{
	u64 now = signals_of(&context->uc_sigmask);

	if (ARCH_RESULT_OF(context) == -EINTR) {
		if (!agent.may_call)
			return true;
		masks_get(&now);
	}
	return now & SIGNALS_OF_FAULTS;
}

/* Whether a fault's signal has room on the stack, below where we stand. */
static bool has_room(const struct mem *mem, u64 here)
{
	if (altstack_of_context_holds(mem->context, here))
		return altstack_room(mem->context, here) >= faults.need;
	if (here > mem->told_low && here < mem->told_high)
		return here - mem->told_low >= faults.need;
	return memory_has_own_room(here, faults.need);
}

bool faults_may_come(const struct mem *mem, u64 here)
{
	struct sigaction segv, bus;

	if (are_blocked(mem->context) || !has_begun() ||
	    __atomic_load_n(&faults.is_over, __ATOMIC_RELAXED) || !has_room(mem, here))
		return false;
	saved_action_read(saved_action_of(SIGSEGV), &segv);
	saved_action_read(saved_action_of(SIGBUS), &bus);
	if (segv.sa_handler == SIG_IGN || bus.sa_handler == SIG_IGN || !is_still_in_kernel())
		return false;
	return !((segv.sa_flags | bus.sa_flags) & SA_ONSTACK) ||
	       leave_alternate_stack(mem->context, here);
}

/* True if the fault is that of a listed load, which goes on without. */
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

/* By the instruction that was interrupted, and not sent by anybody. */
static bool is_fault(int signal, const siginfo_t *info)
{
	return info->si_code > 0 && !(signal == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

static void send_to_this_thread(int signal, const siginfo_t *info)
{
	const long pid = arch_syscall4(SYS_getpid, 0, 0, 0, 0);
	const long tid = arch_syscall4(SYS_gettid, 0, 0, 0, 0);

	arch_syscall4(SYS_rt_tgsigqueueinfo, pid, tid, signal, (long)info);
}

/*
 * Dies of it where the thread was interrupted.  The signal is sent again, for it may not have
 * been a fault that happens again.  Traps go first: one that waits would have this signal
 * delivered in here (is_of_load()), or itself in its place.  Where nothing may be called, it is
 * blocked: then the kernel does not ask for a handler.
 */
static void die_of(int signal, const siginfo_t *info, ucontext_t *context)
{
	const u64 mask = signals_of(&context->uc_sigmask);
	const struct kernel_action standard = { 0 }, ignored = { .handler = (u64)SIG_IGN };
	const u64 all = ~0ULL;

	if (!agent.may_call && is_fault(signal, info)) {
		signals_put(&context->uc_sigmask, mask | SIGNAL_BIT(signal));
		return;
	}
	/* A vfork child dies alone. */
	if (!agent_is_of_another())
		__atomic_store_n(&faults.is_over, true, __ATOMIC_RELAXED);
	signals_put(&context->uc_sigmask, mask & ~SIGNAL_BIT(signal));
	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, sizeof all);
	set_in_kernel(SIGTRAP, &ignored, NULL);
	set_in_kernel(signal, &standard, NULL);
	send_to_this_thread(signal, info);
}

/*
 * Of two signals that instructions raise, the kernel delivers the older first, also if that one
 * is blocked (6.18: kernel/signal.c, dequeue_synchronous_signal()).  A trap of ours that came
 * while our handler ran is: then a second handler interrupts the load, and the fault finds that
 * one at its first instruction.
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
 * Signals that were sent while the thread was in our handler, which lets these two in; a second
 * one is dropped, as the kernel does.
 */
static __thread struct {
	bool is_any;
	bool is_set[FAULT_SIGNALS];
	siginfo_t infos[FAULT_SIGNALS];
} put_off;

/* Only in our handler all of these are blocked, and the signal that came is not. */
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
	/* Until our handler returns. */
	arch_syscall4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, sizeof set);
	put_off.is_any = false;
	for (u32 i = 0; i < FAULT_SIGNALS; i++) {
		if (put_off.is_set[i])
			send_to_this_thread(fault_signals[i], &put_off.infos[i]);
		put_off.is_set[i] = false;
	}
}

/* The action that is due; with SA_RESETHAND, it is the default from now on. */
static void take(int signal, struct sigaction *out_action)
{
	const struct kernel_action standard = { 0 };

	saved_action_read(saved_action_of(signal), out_action);
	if (!(out_action->sa_flags & (int)SA_RESETHAND))
		return;
	/* This memory is the parent's then. */
	if (agent_is_of_another())
		set_in_kernel(signal, &standard, NULL);
	else
		saved_action_take(saved_action_of(signal), out_action);
}

u64 faults_choose(int signal, siginfo_t *info, ucontext_t *context)
{
	struct sigaction action;

	if (is_fault(signal, info) && is_of_load(context))
		return 0;
	if (!is_fault(signal, info) && agent.may_call && is_in_trap(context)) {
		put_off_signal(signal, info);
		return 0;
	}
	take(signal, &action);
	if (saved_action_is_handler(&action))
		return (u64)action.sa_handler;
	if (action.sa_handler == SIG_DFL)
		die_of(signal, info, context);
	return 0;
}

bool faults_keep(int signal)
{
	return (signal == SIGSEGV || signal == SIGBUS) &&
	       __atomic_load_n(&faults.is_kept, __ATOMIC_ACQUIRE);
}

/* What the kernel has: a vfork child may have put an action there, and only there. */
static long query(int signal, struct sigaction *out_old)
{
	struct kernel_action now;
	struct sigaction kept;

	if (!kernel_action_get(signal, &now))
		return -EINVAL;
	saved_action_read(saved_action_of(signal), &kept);
	const bool is_kept = is_ours(&now) || now.handler == (u64)kept.sa_handler;

	*out_old = is_kept ? kept : sigaction_of(&now);
	return 0;
}

static long change_of_another(int signal, const struct sigaction *kept, struct sigaction *old)
{
	const struct kernel_action action = kernel_action_of(kept);
	const long rc = query(signal, old);

	faults.is_set_past_us = true;
	return rc == 0 ? set_in_kernel(signal, &action, NULL) : rc;
}

static long change(int signal, const struct sigaction *wanted, struct sigaction *out_old)
{
	const struct sigaction kept = actions_as_kept(wanted);
	struct saved_action *saved = saved_action_of(signal);
	u32 number;

	if (agent_is_of_another())
		return change_of_another(signal, &kept, out_old);
	do {
		number = saved_action_read(saved, out_old);
	} while (!saved_action_replace(saved, number, &kept));
	return install(signal, NULL);
}

int faults_action(int signal, const struct sigaction *wanted, struct sigaction *out_old)
{
	struct sigaction old;
	long rc = 0;

	if (wanted != NULL)
		rc = change(signal, wanted, &old);
	else if (out_old != NULL)
		rc = query(signal, &old);
	if (rc != 0) {
		errno = (int)-rc;
		return -1;
	}
	if (out_old != NULL)
		actions_report(&old, out_old);
	return 0;
}

AGENT_START void faults_take_over(void)
{
	struct kernel_action now;

	if (!faults.is_kept || !faults.is_set_past_us)
		return;
	for (u32 i = 0; i < FAULT_SIGNALS; i++) {
		if (!kernel_action_get(fault_signals[i], &now) || is_ours(&now))
			continue;
		const struct sigaction theirs = sigaction_of(&now);

		saved_action_write(saved_action_of(fault_signals[i]), &theirs);
		install(fault_signals[i], NULL);
	}
	faults.is_set_past_us = false;
}

void faults_give_back(void)
{
	struct sigaction theirs;
	struct kernel_action now;

	if (!faults.is_kept)
		return;
	faults.is_kept = false;
	for (u32 i = 0; i < FAULT_SIGNALS; i++) {
		saved_action_read(saved_action_of(fault_signals[i]), &theirs);
		const struct kernel_action action = kernel_action_of(&theirs);

		if (kernel_action_get(fault_signals[i], &now) && is_ours(&now))
			set_in_kernel(fault_signals[i], &action, NULL);
	}
}
