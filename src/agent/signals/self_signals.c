/*
 * self_signals - signals that the program sends to a thread of its own.
 *
 * A SIGTRAP that is sent reaches the program by way of on_trap() (forward.c), and for as long as
 * a thread is in there, preempted perhaps, the next trap of ours may be pending for it. Standard
 * signals do not queue: the kernel drops a second one to the same thread, and the program would
 * wait for it forever. So one to a thread of the same process goes as the substitute at once, by
 * the same call. The kernel then does with it what it would have done with SIGTRAP, and says by
 * which call it was sent and by what process: so it is known for a SIGTRAP (forward_unmark()). The
 * substitute's own signal, if a program sends that, goes with a mark, and so does what is queued
 * with an account of the sender's own.
 *
 * What is sent to a process is pending apart from what is sent to a thread, and goes as it is. So
 * does what is sent to others, and all that a vfork child sends, whose actions in the
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

/* What the kernel is to be given for one to a thread of ours. */
static int to_kernel(int signal)
{
	return signal == SIGTRAP && self_signal_is_shifted(signal) ? SIGNAL_SUBSTITUTE : signal;
}

/* What the kernel would say of one that this process sends. */
static siginfo_t sent_by_us(int code)
{
	siginfo_t info = { .si_code = code };

	info.si_pid = own_process.pid;
	info.si_uid = (uid_t)arch_syscall4(SYS_getuid, 0, 0, 0, 0);
	return info;
}

/* True: it was the substitute itself, and is sent. */
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

/* The kernel's number of a thread is in that of its CPU clock (linux/posix-timers.h); or 0. */
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
 * There are two: programs that were built before glibc 2.34 get an error if the thread has ended, by
 * ESRCH.
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
