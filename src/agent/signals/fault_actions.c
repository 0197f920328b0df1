/*
 * fault_actions - keeps the program's actions for SIGSEGV and SIGBUS, while the kernel has ours.
 */
#include "agent/signals/fault_actions.h"

#include <errno.h>
#include <sys/syscall.h>

#include "agent/core/own_process.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/signals/kernel_action.h"
#include "agent/signals/saved_action.h"
#include "agent/signals/signals.h"

const int fault_signals[FAULT_SIGNALS] = { SIGSEGV, SIGBUS };

static struct {
	bool are_kept; /* the program's actions are saved here */
	/* A vfork child or raw fork (agent_is_of_another()) has set an action in the kernel. */
	bool is_set_past_us;
	u64 restorer, restorer_flag;
	struct saved_action saved[FAULT_SIGNALS];
} actions AGENT_STATE;

static struct saved_action *saved_action_of(int signal)
{
	return &actions.saved[signal == SIGBUS];
}

long fault_actions_set_in_kernel(int signal, const struct kernel_action *action,
				 struct kernel_action *out_old)
{
	return arch_syscall4(SYS_rt_sigaction, signal, (long)action, (long)out_old,
			     sizeof action->mask);
}

static struct kernel_action kernel_action_of(const struct sigaction *action)
{
	return (struct kernel_action){
		.handler = (u64)action->sa_handler,
		.flags = (u32)action->sa_flags | actions.restorer_flag,
		.restorer = actions.restorer,
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

bool fault_actions_is_ours(const struct kernel_action *action)
{
	return action->handler == (u64)faults_entry;
}

/*
 * The action to give the kernel.  For the program's default ours has no SA_ONSTACK: a fault of our
 * loads would be written to an alternate stack that the program may have given up.
 */
static struct kernel_action shown_to_kernel(const struct sigaction *theirs)
{
	struct kernel_action shown = kernel_action_of(theirs);

	if (theirs->sa_handler == SIG_IGN)
		return shown;
	shown.handler = (u64)faults_entry;
	shown.flags = SA_SIGINFO | (shown.flags & ~(u64)SA_RESETHAND);
	if (theirs->sa_handler == SIG_DFL) {
		shown.flags = SA_SIGINFO | actions.restorer_flag;
		shown.mask = 0;
	}
	return shown;
}

/* Of several threads that install at once, the last one installs the program's latest action. */
static long install(int signal, struct kernel_action *out_old)
{
	struct sigaction theirs;
	u32 number;
	long rc;

	do {
		number = saved_action_read(saved_action_of(signal), &theirs);
		const struct kernel_action shown = shown_to_kernel(&theirs);

		rc = fault_actions_set_in_kernel(signal, &shown, out_old);
	} while (rc == 0 && !saved_action_is_current(saved_action_of(signal), number));
	return rc;
}

/* Whether an action of the program's was set in between, and not saved. */
static bool is_other(const struct kernel_action *old, const struct sigaction *as_read)
{
	return !fault_actions_is_ours(old) && (old->handler != (u64)as_read->sa_handler ||
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

bool fault_actions_begin(void)
{
	struct kernel_action now;

	if (!kernel_action_get(SIGTRAP, &now))
		return false;
	actions.restorer = now.restorer;
	actions.restorer_flag = now.flags & KERNEL_RESTORER_FLAG;
	for (u32 i = 0; i < FAULT_SIGNALS; i++) {
		if (!kernel_action_get(fault_signals[i], &now))
			return false;
		const struct sigaction theirs = sigaction_of(&now);

		saved_action_write(saved_action_of(fault_signals[i]), &theirs);
	}
	__atomic_store_n(&actions.are_kept, true, __ATOMIC_RELEASE);
	return begin_with(SIGSEGV) && begin_with(SIGBUS);
}

bool fault_actions_are_kept(void)
{
	return __atomic_load_n(&actions.are_kept, __ATOMIC_ACQUIRE);
}

void fault_actions_read(int signal, struct sigaction *out_action)
{
	saved_action_read(saved_action_of(signal), out_action);
}

void fault_actions_take(int signal, struct sigaction *out_action)
{
	const struct kernel_action standard = { 0 };

	saved_action_read(saved_action_of(signal), out_action);
	if (!(out_action->sa_flags & (int)SA_RESETHAND))
		return;
	/* In a vfork child this memory is the parent's. */
	if (agent_is_of_another())
		fault_actions_set_in_kernel(signal, &standard, NULL);
	else
		saved_action_take(saved_action_of(signal), out_action);
}

bool fault_actions_hold(int signal)
{
	return (signal == SIGSEGV || signal == SIGBUS) && fault_actions_are_kept();
}

/* Reports the kernel's action unless it is ours: that of a vfork child is only in the kernel. */
static long query(int signal, struct sigaction *out_old)
{
	struct kernel_action now;
	struct sigaction kept;

	if (!kernel_action_get(signal, &now))
		return -EINVAL;
	saved_action_read(saved_action_of(signal), &kept);
	const bool is_kept = fault_actions_is_ours(&now) || now.handler == (u64)kept.sa_handler;

	*out_old = is_kept ? kept : sigaction_of(&now);
	return 0;
}

static long change_of_another(int signal, const struct sigaction *kept, struct sigaction *old)
{
	const struct kernel_action action = kernel_action_of(kept);
	const long rc = query(signal, old);

	actions.is_set_past_us = true;
	return rc == 0 ? fault_actions_set_in_kernel(signal, &action, NULL) : rc;
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

int fault_actions_set(int signal, const struct sigaction *wanted, struct sigaction *out_old)
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

AGENT_START void fault_actions_take_over(void)
{
	struct kernel_action now;

	if (!actions.are_kept || !actions.is_set_past_us)
		return;
	for (u32 i = 0; i < FAULT_SIGNALS; i++) {
		if (!kernel_action_get(fault_signals[i], &now) || fault_actions_is_ours(&now))
			continue;
		const struct sigaction theirs = sigaction_of(&now);

		saved_action_write(saved_action_of(fault_signals[i]), &theirs);
		install(fault_signals[i], NULL);
	}
	actions.is_set_past_us = false;
}

void fault_actions_give_back(void)
{
	struct sigaction theirs;
	struct kernel_action now;

	if (!actions.are_kept)
		return;
	actions.are_kept = false;
	for (u32 i = 0; i < FAULT_SIGNALS; i++) {
		saved_action_read(saved_action_of(fault_signals[i]), &theirs);
		const struct kernel_action action = kernel_action_of(&theirs);

		if (kernel_action_get(fault_signals[i], &now) && fault_actions_is_ours(&now))
			fault_actions_set_in_kernel(fault_signals[i], &action, NULL);
	}
}
