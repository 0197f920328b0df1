/*
 * actions - interposes sigaction(): keeps and reports the program's action for SIGTRAP, while ours
 * stays in the kernel.  See signals.h.
 *
 * The same goes for the substitute.  For every other signal the kernel has the program's action,
 * with one change: SIGTRAP in its mask is replaced by the substitute.
 */
#include "agent/signals/signals.h"

#include <errno.h>

#include "agent/core/own_process.h"
#include "agent/core/agent_state.h"
#include "agent/signals/altstack.h"
#include "agent/signals/saved_action.h"
#include "agent/signals/fault_actions.h"
#include "agent/signals/interposed.h"
#include "agent/signals/ignored.h"
#include "agent/signals/stack_flags.h"

/* What the kernel keeps of sa_flags (include/linux/signal_types.h, UAPI_SA_FLAGS). */
#define KNOWN_FLAGS                                                                        \
	(SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | \
	 (int)SA_RESETHAND | 0x800 /* SA_EXPOSE_TAGBITS */)
/* Of the program's flags, those that make a difference in how a handler is called. */
#define CALL_FLAGS (SA_ONSTACK | SA_RESTART | SA_NODEFER)

static struct {
	struct saved_action trap, substitute;
	/* Signals whose actions' masks have only one of SIGTRAP and the substitute. */
	u64 differing;
	/* What libc adds to each action (SA_RESTORER on x86-64), and reports back. */
	int libc_flags;
	void (*restorer)(void);
	/* A vfork child or raw fork (agent_is_of_another()) has set an action in the kernel. */
	bool is_set_past_us;
} actions AGENT_STATE;

static struct saved_action *saved_action_of(int signal)
{
	if (signal == SIGTRAP)
		return &actions.trap;
	return signal == SIGNAL_SUBSTITUTE ? &actions.substitute : NULL;
}

static int kernel_action(int signal, const struct sigaction *action, struct sigaction *old)
{
	return HOOK_NEXT(sigaction)(signal, action, old);
}

static void install_on_trap(void)
{
	struct sigaction action = {
		.sa_sigaction = on_trap,
		.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
	};

	u64 let_in;

	do {
		let_in = ignored_signals();
		signals_put(&action.sa_mask, ~(SIGNALS_OF_FAULTS | let_in));
		kernel_action(SIGTRAP, &action, NULL);
	} while (!ignored_are_let_in(let_in));
}

/* Then the kernel must ignore it as well: a signal with a handler of ours would end waits. */
static bool is_substitute_ignored(const struct sigaction *trap,
				  const struct sigaction *substitute)
{
	return trap->sa_handler == SIG_IGN && !saved_action_is_handler(substitute);
}

/* Installs our handler of the substitute, with the flags and mask of the program's. */
static void install_on_substitute(void)
{
	struct sigaction trap, substitute;
	struct sigaction action = {
		.sa_sigaction = forward_on_substitute,
		.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
	};

	saved_action_read(&actions.trap, &trap);
	saved_action_read(&actions.substitute, &substitute);
	const struct sigaction *theirs = saved_action_is_handler(&trap) ? &trap : &substitute;

	signals_put(&action.sa_mask, ~0ULL);
	if (saved_action_is_handler(theirs)) {
		action.sa_flags = SA_SIGINFO | (theirs->sa_flags & CALL_FLAGS);
		if (!stack_flags_are_allowed())
			action.sa_flags &= ~SA_ONSTACK;
		action.sa_mask = signals_as_kernel(&theirs->sa_mask);
	}
	if (is_substitute_ignored(&trap, &substitute))
		action = (struct sigaction){ .sa_handler = SIG_IGN };
	kernel_action(SIGNAL_SUBSTITUTE, &action, NULL);
}

static bool is_ours(const struct sigaction *in_kernel)
{
	return (in_kernel->sa_flags & SA_SIGINFO) &&
	       (in_kernel->sa_sigaction == on_trap ||
		in_kernel->sa_sigaction == forward_on_substitute);
}

AGENT_START void signals_begin(bool is_ignored)
{
	struct sigaction theirs = { 0 }, now;

	kernel_action(SIGNAL_SUBSTITUTE, NULL, &theirs);
	saved_action_write(&actions.substitute, &theirs);
	theirs = (struct sigaction){ .sa_handler = is_ignored ? SIG_IGN : SIG_DFL };
	saved_action_write(&actions.trap, &theirs);
	install_on_trap();
	install_on_substitute();
	kernel_action(SIGTRAP, NULL, &now);
	actions.libc_flags = now.sa_flags & ~(SA_SIGINFO | SA_RESTART | SA_ONSTACK);
	actions.restorer = now.sa_restorer;
	self_signals_begin();
	own_process.is_trap_ours = true;
	masks_begin();
}

AGENT_START void signals_take_over(void)
{
	struct sigaction trap, substitute;

	fault_actions_take_over();
	if (!actions.is_set_past_us || kernel_action(SIGTRAP, NULL, &trap) != 0 ||
	    kernel_action(SIGNAL_SUBSTITUTE, NULL, &substitute) != 0)
		return;
	if (!is_ours(&trap))
		saved_action_write(&actions.trap, &trap);
	/* Where SIGTRAP is ignored, the agent may have set the substitute to be ignored, too. */
	if (!is_ours(&substitute) && !actions_peek(SIGTRAP).is_ignored)
		saved_action_write(&actions.substitute, &substitute);
	install_on_trap();
	install_on_substitute();
	actions.is_set_past_us = false;
}

/* Not while SIGTRAP is ignored for an exec in another thread, or given back. */
void signals_install_again(void)
{
	struct sigaction now;

	if (kernel_action(SIGTRAP, NULL, &now) == 0 && is_ours(&now))
		install_on_trap();
}

void signals_flags_have_changed(void)
{
	struct sigaction now;

	if (kernel_action(SIGNAL_SUBSTITUTE, NULL, &now) == 0 && is_ours(&now))
		install_on_substitute();
}

AGENT_START void signals_give_back(void)
{
	struct sigaction trap, substitute;
	u64 kernel;
	const u64 theirs = masks_get(&kernel);

	if (!own_process.is_trap_ours)
		return;
	stack_flags_allow();
	own_process.is_trap_ours = false;
	saved_action_read(&actions.trap, &trap);
	saved_action_read(&actions.substitute, &substitute);
	kernel_action(SIGTRAP, &trap, NULL);
	kernel_action(SIGNAL_SUBSTITUTE, &substitute, NULL);
	fault_actions_give_back();
	altstack_give_back();
	if (theirs != kernel)
		masks_set_kernel(theirs);
}

/* A vfork child may have installed a handler of its own, which stays. */
bool signals_ignore_trap(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before;

	if (kernel_action(SIGTRAP, &ignore, &before) != 0)
		return false;
	if (!is_ours(&before))
		kernel_action(SIGTRAP, &before, NULL);
	return is_ours(&before);
}

/* Before exec; true if it changed the kernel's action. */
static bool show_substitute(void)
{
	const bool is_ignored = actions_peek(SIGNAL_SUBSTITUTE).is_ignored;
	const struct sigaction theirs = { .sa_handler = is_ignored ? SIG_IGN : SIG_DFL };

	/* Exec resets our handler by itself. */
	if (!is_ignored && !actions_peek(SIGTRAP).is_ignored)
		return false;
	return kernel_action(SIGNAL_SUBSTITUTE, &theirs, NULL) == 0;
}

void signals_show(bool must_ignore_trap, struct signals_shown *out_shown)
{
	if (!own_process.is_trap_ours)
		return;
	const u64 theirs = masks_get(&out_shown->mask);

	if (must_ignore_trap || actions_peek(SIGTRAP).is_ignored)
		out_shown->has_trap_action = signals_ignore_trap();
	out_shown->has_substitute_action = show_substitute();
	out_shown->has_mask = theirs != out_shown->mask;
	if (out_shown->has_mask)
		masks_set_kernel(theirs);
}

void signals_hide(const struct signals_shown *shown)
{
	if (shown->has_trap_action)
		install_on_trap();
	if (shown->has_substitute_action)
		install_on_substitute();
	if (shown->has_mask)
		masks_set_kernel(shown->mask);
}

static struct program_action program_action_of(const struct sigaction *action)
{
	return (struct program_action){
		.handle = action->sa_sigaction,
		.is_handler = saved_action_is_handler(action),
		.is_ignored = action->sa_handler == SIG_IGN,
	};
}

struct program_action actions_peek(int signal)
{
	struct sigaction action;

	saved_action_read(saved_action_of(signal), &action);
	return program_action_of(&action);
}

struct program_action actions_take(int signal)
{
	struct sigaction action;

	saved_action_take(saved_action_of(signal), &action);
	return program_action_of(&action);
}

void actions_default_in_kernel(int signal)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };

	kernel_action(signal, &standard, NULL);
}

/* As libc and the kernel would report it. */
void actions_report(const struct sigaction *action, struct sigaction *out)
{
	const u64 mask = signals_of(&action->sa_mask);

	out->sa_handler = action->sa_handler;
	out->sa_flags = action->sa_flags;
	out->sa_restorer = action->sa_restorer;
	signals_put(&out->sa_mask, mask);
}

struct sigaction actions_as_kept(const struct sigaction *wanted)
{
	struct sigaction kept = *wanted;

	kept.sa_flags = (wanted->sa_flags & KNOWN_FLAGS) | actions.libc_flags;
	kept.sa_restorer = actions.restorer;
	signals_put(&kept.sa_mask, signals_of(&wanted->sa_mask) &
					   ~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP)));
	return kept;
}

/* Reports the kernel's action unless it is ours: that of a vfork child is only in the kernel. */
static int query(int signal, struct sigaction *out_old)
{
	struct sigaction now, kept;

	if (kernel_action(signal, NULL, &now) != 0)
		return -1;
	const bool is_kept = is_ours(&now) ||
			     (signal == SIGNAL_SUBSTITUTE && actions_peek(SIGTRAP).is_ignored);

	saved_action_read(saved_action_of(signal), &kept);
	actions_report(is_kept ? &kept : &now, out_old);
	return 0;
}

/* The action for SIGTRAP or the substitute. */
static int change(int signal, const struct sigaction *wanted, struct sigaction *out_old)
{
	struct saved_action *saved = saved_action_of(signal);
	struct sigaction old = { 0 };

	if (wanted == NULL && out_old == NULL)
		return kernel_action(signal, NULL, NULL);
	if (wanted == NULL)
		return query(signal, out_old);

	const struct sigaction kept = actions_as_kept(wanted);

	ignored_before(signal, wanted->sa_handler);
	/* In a vfork child this memory is the parent's, the kernel's actions its own. */
	if (agent_is_of_another()) {
		actions.is_set_past_us = true;
		if (query(signal, &old) != 0 || kernel_action(signal, &kept, NULL) != 0)
			return -1;
	} else {
		saved_action_read(saved, &old);
		saved_action_write(saved, &kept);
		install_on_substitute();
	}
	if (out_old != NULL)
		actions_report(&old, out_old);
	return 0;
}

static bool is_differing_noted(int signal)
{
	return __atomic_load_n(&actions.differing, __ATOMIC_RELAXED) & SIGNAL_BIT(signal);
}

void actions_note_mask(int signal, u64 mask)
{
	const bool is_differing = !(mask & TRAP_BIT) != !(mask & SUBSTITUTE_BIT);

	if (is_differing)
		__atomic_fetch_or(&actions.differing, SIGNAL_BIT(signal), __ATOMIC_RELAXED);
	else if (is_differing_noted(signal))
		__atomic_fetch_and(&actions.differing, ~SIGNAL_BIT(signal), __ATOMIC_RELAXED);
}

u64 actions_mask_as_noted(int signal, u64 kernel)
{
	const bool has_trap = kernel & SUBSTITUTE_BIT;

	return signals_to_program(kernel, has_trap != is_differing_noted(signal));
}

/* The action for any other signal. */
static int pass_on(int signal, const struct sigaction *wanted, struct sigaction *out_old)
{
	const int old_flags = stack_flags_to_program(signal, 0);
	struct sigaction changed;
	u64 mask = 0;

	if (wanted != NULL) {
		changed = *wanted;
		mask = signals_of(&wanted->sa_mask);
		changed.sa_mask = signals_as_kernel(&wanted->sa_mask);
		changed.sa_flags = stack_flags_to_kernel(signal, wanted->sa_flags);
		ignored_before(signal, wanted->sa_handler);
	}
	const int rc =
		fault_actions_hold(signal)
			? fault_actions_set(signal, wanted != NULL ? &changed : NULL, out_old)
			: kernel_action(signal, wanted != NULL ? &changed : NULL, out_old);

	if (rc != 0)
		return rc;
	if (out_old != NULL) {
		const u64 before = signals_of(&out_old->sa_mask);

		signals_put(&out_old->sa_mask, actions_mask_as_noted(signal, before));
		out_old->sa_flags |= old_flags;
	}
	if (wanted != NULL) {
		actions_note_mask(signal, mask);
		ignored_after(signal, changed.sa_handler);
	}
	return 0;
}

AGENT_EXPORT int sigaction(int signal, const struct sigaction *wanted, struct sigaction *old)
{
	if (!own_process.is_trap_ours)
		return kernel_action(signal, wanted, old);
	if (saved_action_of(signal) != NULL)
		return change(signal, wanted, old);
	return pass_on(signal, wanted, old);
}

AGENT_ALIAS(__sigaction, sigaction);
