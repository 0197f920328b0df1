/*
 * self_signals - interposes raise(), pthread_kill() and their like, so that no SIGTRAP is lost.
 *
 * A SIGTRAP that is sent reaches the program by way of on_trap() (forward.c), and for as long as
 * a thread is in there, preempted perhaps, the next trap of ours may be pending for it.
 * Standard signals do not queue: the kernel drops a second one to the same thread, and the
 * program would wait for it forever.  So a SIGTRAP that the program sends to a thread of its own
 * is sent as the substitute at once, by the same call.  The kernel then does with it what it
 * would have done with SIGTRAP, and its siginfo has the call and the process that sent it, by
 * which forward_unmark() recognises a SIGTRAP.  SIGSTKFLT itself, if a program sends that, is
 * sent with a mark, and so is a signal that is queued with a siginfo of the sender's own.
 *
 * Signals to a process are pending separately from those to a thread, and are sent unchanged.
 * So are signals to other processes, and all that a vfork child sends, whose actions in the
 * kernel may be its own by now.
 */
#include "agent/signals/signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/core/own_process.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/signals/interposed.h"

bool self_signal_is_shifted(int signal)
{
	return (signal == SIGTRAP || signal == SIGNAL_SUBSTITUTE) && own_process.is_trap_ours &&
	       permits.may_call && !agent_is_of_another();
}

/* The signal to give the kernel for one to a thread of this process. */
static int to_kernel(int signal)
{
	return signal == SIGTRAP && self_signal_is_shifted(signal) ? SIGNAL_SUBSTITUTE : signal;
}

/* The kernel's siginfo of a signal that this process sends. */
static siginfo_t sent_by_us(int code)
{
	siginfo_t info = { .si_code = code };

	info.si_pid = own_process.pid;
	info.si_uid = (uid_t)arch_syscall4(SYS_getuid, 0, 0, 0, 0);
	return info;
}

/* True if the signal is the substitute itself: then it was sent, with a mark. */
static bool is_substitute_sent(pid_t tid, int signal)
{
	if (tid <= 0 || signal != SIGNAL_SUBSTITUTE || !self_signal_is_shifted(signal))
		return false;
	const siginfo_t info = sent_by_us(SI_TKILL);

	return forward_send_marked(tid, signal, &info) == 0;
}

AGENT_EXPORT int tgkill(pid_t pid, pid_t tid, int signal)
{
	if (pid != own_process.pid)
		return HOOK_NEXT(tgkill)(pid, tid, signal);
	if (is_substitute_sent(tid, signal))
		return 0;
	return HOOK_NEXT(tgkill)(pid, tid, to_kernel(signal));
}

AGENT_EXPORT int raise(int signal)
{
	if (signal == SIGNAL_SUBSTITUTE &&
	    is_substitute_sent((pid_t)arch_syscall4(SYS_gettid, 0, 0, 0, 0), signal))
		return 0;
	return HOOK_NEXT(raise)(to_kernel(signal));
}

AGENT_ALIAS(gsignal, raise);

/* The thread's tid, which is part of its CPU clock's id (linux/posix-timers.h); or 0. */
static pid_t tid_of(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) == 0 ? ~(clock >> 3) : 0;
}

AGENT_EXPORT int pthread_sigqueue(pthread_t thread, int signal, const union sigval value)
{
	const pid_t tid = self_signal_is_shifted(signal) ? tid_of(thread) : 0;

	if (tid == 0)
		return HOOK_NEXT(pthread_sigqueue)(thread, signal, value);
	siginfo_t info = sent_by_us(SI_QUEUE);

	info.si_value = value;
	return (int)-forward_send_marked(tid, signal, &info);
}

/*
 * There are two versions: for programs that were built before glibc 2.34, pthread_kill() fails with
 * ESRCH if the thread has ended.
 */
int pthread_kill_of_old(pthread_t thread, int signal);
int pthread_kill_of_now(pthread_t thread, int signal);
__asm__(".symver pthread_kill_of_old, pthread_kill@" ARCH_LIBC_BASE);
__asm__(".symver pthread_kill_of_now, pthread_kill@@GLIBC_2.34");

static __typeof__(pthread_kill) *libc_kill_of_old AGENT_STATE;

AGENT_START void self_signals_begin(void)
{
	/* POSIX has dlvsym() give functions as object pointers; ISO C does not. */
	*(void **)&libc_kill_of_old = dlvsym(RTLD_NEXT, "pthread_kill", ARCH_LIBC_BASE);
}

AGENT_EXPORT int pthread_kill_of_now(pthread_t thread, int signal)
{
	if (signal == SIGNAL_SUBSTITUTE && is_substitute_sent(tid_of(thread), signal))
		return 0;
	return HOOK_NEXT(pthread_kill)(thread, to_kernel(signal));
}

AGENT_EXPORT int pthread_kill_of_old(pthread_t thread, int signal)
{
	if (libc_kill_of_old == NULL)
		self_signals_begin();
	if (libc_kill_of_old == NULL)
		return pthread_kill_of_now(thread, signal);
	if (signal == SIGNAL_SUBSTITUTE && is_substitute_sent(tid_of(thread), signal))
		return 0;
	return libc_kill_of_old(thread, to_kernel(signal));
}
