#include "agent/signals/ignored.h"

#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/signals/kernel_action.h"
#include "agent/signals/signals.h"

/* The signals that the kernel ignores by default (include/linux/signal.h). */
#define IGNORED_BY_DEFAULT \
	(SIGNAL_BIT(SIGCONT) | SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGWINCH) | SIGNAL_BIT(SIGURG))
/* Real-time signals are not looked up: one that is ignored comes only if a process sends it. */
#define ASKED_LAST 31
/* The kernel's actions for these are not what the program set: actions.c. */
#define SHIFTED (TRAP_BIT | SUBSTITUTE_BIT)

/* glibc 2.32: false once there has been a second thread. */
extern char __libc_single_threaded __attribute__((weak));

static struct {
	bool is_kept;
	u64 wanted;       /* the signals that are ignored */
	u64 ever_handled; /* since the start, also before is_kept */
	u64 in_kernel;    /* the `wanted` that our handler was last installed with */
} ignored AGENT_STATE;

u64 ignored_signals(void)
{
	return __atomic_load_n(&ignored.wanted, __ATOMIC_RELAXED);
}

bool ignored_are_let_in(u64 signals)
{
	__atomic_store_n(&ignored.in_kernel, signals, __ATOMIC_RELAXED);
	return ignored_signals() == signals;
}

static bool is_ignoring(int signal, sighandler_t handler)
{
	return handler == SIG_IGN ||
	       (handler == SIG_DFL && (SIGNAL_BIT(signal) & IGNORED_BY_DEFAULT));
}

/* Whether `wanted` must change; not in a vfork child, which has its own actions. */
static bool is_to_be_changed(int signal, bool is_to_be_kept)
{
	if (!__atomic_load_n(&ignored.is_kept, __ATOMIC_RELAXED) || signal < 1 ||
	    signal > SIGNAL_LAST || (SIGNAL_BIT(signal) & SHIFTED))
		return false;
	return !(ignored_signals() & SIGNAL_BIT(signal)) == is_to_be_kept &&
	       !agent_is_of_another();
}

u64 ignored_ever_handled(void)
{
	return __atomic_load_n(&ignored.ever_handled, __ATOMIC_RELAXED);
}

static void note_handler(int signal, sighandler_t handler)
{
	if (signal >= 1 && signal <= SIGNAL_LAST && handler != SIG_DFL && handler != SIG_IGN &&
	    !(ignored_ever_handled() & SIGNAL_BIT(signal)))
		__atomic_fetch_or(&ignored.ever_handled, SIGNAL_BIT(signal), __ATOMIC_RELAXED);
}

void ignored_before(int signal, sighandler_t handler)
{
	note_handler(signal, handler);
	if (is_ignoring(signal, handler) || !is_to_be_changed(signal, false))
		return;
	__atomic_fetch_and(&ignored.wanted, ~SIGNAL_BIT(signal), __ATOMIC_RELAXED);
	signals_install_again();
}

void ignored_after(int signal, sighandler_t handler)
{
	if (is_ignoring(signal, handler) && is_to_be_changed(signal, true))
		__atomic_fetch_or(&ignored.wanted, SIGNAL_BIT(signal), __ATOMIC_RELAXED);
}

static bool is_ignored_in_kernel(int signal)
{
	struct kernel_action action;

	return kernel_action_get(signal, &action) &&
	       is_ignoring(signal, (sighandler_t)action.handler);
}

static void ignored_begin(void)
{
	if (__atomic_exchange_n(&ignored.is_kept, true, __ATOMIC_RELAXED))
		return;
	for (int signal = 1; signal <= ASKED_LAST; signal++) {
		const u64 bit = SIGNAL_BIT(signal);

		if ((bit & SHIFTED) || !is_ignored_in_kernel(signal))
			continue;
		__atomic_fetch_or(&ignored.wanted, bit, __ATOMIC_RELAXED);
		/* Another thread may have changed the action before its bit was kept. */
		if (!is_ignored_in_kernel(signal))
			__atomic_fetch_and(&ignored.wanted, ~bit, __ATOMIC_RELAXED);
	}
}

static void ignored_install(void)
{
	if (ignored_signals() != __atomic_load_n(&ignored.in_kernel, __ATOMIC_RELAXED) &&
	    permits.may_call)
		signals_install_again();
}

void ignored_before_thread(void)
{
	if (own_ring.header == NULL || !permits.may_call ||
	    __atomic_load_n(&ignored.is_kept, __ATOMIC_RELAXED))
		return;
	ignored_begin();
	ignored_install();
}

void ignored_look(void)
{
	if (!__atomic_load_n(&ignored.is_kept, __ATOMIC_RELAXED)) {
		if (&__libc_single_threaded == NULL || __libc_single_threaded ||
		    !permits.may_call)
			return;
		ignored_begin();
	}
	ignored_install();
}
