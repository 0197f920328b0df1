#include "agent/signals/stack_flags.h"

#include <errno.h>
#include <sys/syscall.h>

#include "agent/core/own_process.h"
#include "agent/core/permits.h"
#include "agent/signals/altstack.h"
#include "agent/core/arch.h"
#include "agent/signals/fault_actions.h"
#include "agent/signals/interposed.h"
#include "agent/signals/signals.h"

static struct {
	u64 withheld; /* signals whose actions have the flag, but not in the kernel */
	bool is_allowed;
} flags_kept;

bool stack_flags_are_allowed(void)
{
	return __atomic_load_n(&flags_kept.is_allowed, __ATOMIC_ACQUIRE);
}

static bool is_withheld(int signal)
{
	return signal >= 1 && signal <= SIGNAL_LAST &&
	       (__atomic_load_n(&flags_kept.withheld, __ATOMIC_RELAXED) & SIGNAL_BIT(signal));
}

/* Whether a raw call has set an alternate stack (Go keeps ours: go_runtime.h). */
static bool has_stack_set_past_us(void)
{
	stack_t now;

	return permits.may_call && arch_syscall4(SYS_sigaltstack, 0, (long)&now, 0, 0) == 0 &&
	       now.ss_size != 0 && !altstack_is_ours(&now);
}

int stack_flags_to_kernel(int signal, int flags)
{
	const bool is_for_us = flags & SA_ONSTACK && !stack_flags_are_allowed() &&
			       signal >= 1 && signal <= SIGNAL_LAST;

	/* In a vfork child this memory is the parent's, and the action is the child's. */
	if ((!is_for_us && !is_withheld(signal)) || agent_is_of_another())
		return flags;
	if (!is_for_us) {
		__atomic_fetch_and(&flags_kept.withheld, ~SIGNAL_BIT(signal), __ATOMIC_RELAXED);
		return flags;
	}
	if (has_stack_set_past_us()) {
		stack_flags_allow();
		return flags;
	}
	__atomic_fetch_or(&flags_kept.withheld, SIGNAL_BIT(signal), __ATOMIC_RELAXED);
	return flags & ~SA_ONSTACK;
}

int stack_flags_to_program(int signal, int flags)
{
	return is_withheld(signal) ? flags | SA_ONSTACK : flags;
}

static int action_in_kernel(int signal, const struct sigaction *wanted, struct sigaction *old)
{
	return fault_actions_hold(signal) ? fault_actions_set(signal, wanted, old)
					  : HOOK_NEXT(sigaction)(signal, wanted, old);
}

static bool is_same(const struct sigaction *one, const struct sigaction *other)
{
	return one->sa_sigaction == other->sa_sigaction && one->sa_flags == other->sa_flags;
}

/* An action that another thread sets in between is set once more. */
static void give_flag(int signal)
{
	struct sigaction expected, wanted, found;

	if (action_in_kernel(signal, NULL, &expected) != 0)
		return;
	wanted = expected;
	for (;;) {
		if (is_withheld(signal))
			wanted.sa_flags |= SA_ONSTACK;
		if (action_in_kernel(signal, &wanted, &found) != 0 ||
		    is_same(&found, &expected))
			return;
		expected = wanted;
		wanted = found;
	}
}

void stack_flags_allow(void)
{
	if (__atomic_exchange_n(&flags_kept.is_allowed, true, __ATOMIC_ACQ_REL))
		return;
	for (int signal = 1; signal <= SIGNAL_LAST; signal++) {
		if (is_withheld(signal))
			give_flag(signal);
	}
	signals_flags_have_changed();
}

AGENT_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	const bool is_for_us = altstack_is_for_us(stack);

	/* Also where nothing is sampled: the flag has its effect from now on. */
	if (is_for_us && !(stack->ss_flags & SS_DISABLE))
		stack_flags_allow();
	const long rc = altstack_set(stack, is_for_us, old);

	if (rc == 0)
		return 0;
	errno = (int)-rc;
	return -1;
}
