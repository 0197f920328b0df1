/*
 * signal_calls - interposes signal() and other functions from before sigaction().
 *
 * libc's call libc's own sigaction(), not ours.  So they are implemented here, by libc's rules
 * (signal(3), sysv_signal(3), sigset(3), siginterrupt(3)).
 */
#include "agent/signals/signals.h"

#include <errno.h>

#include "agent/core/own_process.h"
#include "agent/signals/interposed.h"

/* Programs call deprecated functions all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* For siginterrupt(): the signals that signal() sets without SA_RESTART. */
static u64 interrupting;

static bool is_passed_on(int signal)
{
	return !own_process.is_trap_ours || signal < 1 || signal > SIGNAL_LAST;
}

static sigset_t only(int signal)
{
	sigset_t set = { 0 };

	signals_put(&set, SIGNAL_BIT(signal));
	return set;
}

static sighandler_t set_action(int signal, const struct sigaction *action)
{
	struct sigaction old;

	if (action->sa_handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	return sigaction(signal, action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

AGENT_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	if (is_passed_on(number))
		return HOOK_NEXT(signal)(number, handler);
	const bool is_interrupting = interrupting & SIGNAL_BIT(number);

	return set_action(number, &(struct sigaction){
					  .sa_handler = handler,
					  .sa_mask = only(number),
					  .sa_flags = is_interrupting ? 0 : SA_RESTART,
				  });
}

AGENT_ALIAS(bsd_signal, signal);
AGENT_ALIAS(ssignal, signal);

AGENT_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
	if (is_passed_on(number))
		return HOOK_NEXT(sysv_signal)(number, handler);
	return set_action(number, &(struct sigaction){
					  .sa_handler = handler,
					  .sa_flags = (int)SA_RESETHAND | SA_NODEFER,
				  });
}

AGENT_ALIAS(__sysv_signal, sysv_signal);

AGENT_EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
	if (is_passed_on(number))
		return HOOK_NEXT(sigset)(number, handler);

	const struct sigaction action = { .sa_handler = handler };
	const sigset_t set = only(number);
	const bool is_to_be_held = handler == SIG_HOLD;
	sigset_t before;
	struct sigaction old;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	/* Before the signal is unblocked: a pending one goes to the new handler. */
	if (sigaction(number, is_to_be_held ? NULL : &action, &old) != 0 ||
	    sigprocmask(is_to_be_held ? SIG_BLOCK : SIG_UNBLOCK, &set, &before) != 0)
		return SIG_ERR;
	return signals_of(&before) & SIGNAL_BIT(number) ? SIG_HOLD : old.sa_handler;
}

AGENT_EXPORT int sigignore(int number)
{
	if (is_passed_on(number))
		return HOOK_NEXT(sigignore)(number);
	return sigaction(number, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
}

AGENT_EXPORT int siginterrupt(int number, int is_to_interrupt)
{
	if (is_passed_on(number))
		return HOOK_NEXT(siginterrupt)(number, is_to_interrupt);

	struct sigaction action;

	if (sigaction(number, NULL, &action) != 0)
		return -1;
	if (is_to_interrupt) {
		__atomic_fetch_or(&interrupting, SIGNAL_BIT(number), __ATOMIC_RELAXED);
		action.sa_flags &= ~SA_RESTART;
	} else {
		__atomic_fetch_and(&interrupting, ~SIGNAL_BIT(number), __ATOMIC_RELAXED);
		action.sa_flags |= SA_RESTART;
	}
	return sigaction(number, &action, NULL);
}
