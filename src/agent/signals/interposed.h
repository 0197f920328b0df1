/*
 * interposed - every function of the target that signals/ interposes, and why.
 */
#pragma once
#include "agent/core/hooks.h"

#define SIGNALS_HOOKS(X)                                                                     \
	/* actions.c */                                                                      \
	X(sigaction, PASSES_ON, "SIGTRAP's action is ours, and reported as the program's")   \
	X(__sigaction, ANSWERS, "the same")                                                  \
	/* signal_calls.c */                                                                 \
	X(signal, PASSES_ON, "the same, of SIGTRAP")                                         \
	X(bsd_signal, ANSWERS, "the same")                                                   \
	X(ssignal, ANSWERS, "the same")                                                      \
	X(sysv_signal, PASSES_ON, "the same")                                                \
	X(__sysv_signal, ANSWERS, "the same")                                                \
	X(sigset, PASSES_ON, "the same")                                                     \
	X(sigignore, PASSES_ON, "the same")                                                  \
	X(siginterrupt, PASSES_ON, "the same")                                               \
	/* masks.c */                                                                        \
	X(sigprocmask, ANSWERS, "a thread that blocks every signal is sampled all the same") \
	X(pthread_sigmask, ANSWERS, "the same")                                              \
	X(sighold, PASSES_ON, "the same, of SIGTRAP")                                        \
	X(sigrelse, PASSES_ON, "the same")                                                   \
	X(sigblock, ANSWERS, "the same")                                                     \
	X(sigsetmask, ANSWERS, "the same")                                                   \
	X(siggetmask, ANSWERS, "the mask as the program set it")                             \
	X(sigpending, PASSES_ON, "a SIGTRAP that waits is reported as one")                  \
	X(pthread_attr_setsigmask_np, PASSES_ON, "the mask a thread begins with")            \
	X(pthread_attr_getsigmask_np, PASSES_ON, "the same")                                 \
	/* self_signals.c */                                                                 \
	X(raise, PASSES_ON, "a SIGTRAP of its own is not lost where one of ours is pending") \
	X(gsignal, ANSWERS, "the same")                                                      \
	X(tgkill, PASSES_ON, "the same")                                                     \
	X(pthread_kill, PASSES_ON, "the same")                                               \
	X(pthread_sigqueue, PASSES_ON, "the same")                                           \
	/* waits.c */                                                                        \
	X(ppoll, PASSES_ON, "with every signal blocked it is sampled all the same")          \
	X(__ppoll_chk, PASSES_ON, "the same")                                                \
	X(pselect, PASSES_ON, "the same")                                                    \
	X(epoll_pwait, PASSES_ON, "the same")                                                \
	X(epoll_pwait2, PASSES_ON, "the same")                                               \
	X(sigsuspend, PASSES_ON, "the same")                                                 \
	X(__sigsuspend, ANSWERS, "the same")                                                 \
	X(sigpause, PASSES_ON, "the same")                                                   \
	X(__sigpause, PASSES_ON, "the same")                                                 \
	X(__xpg_sigpause, PASSES_ON, "the same")                                             \
	X(sigwait, PASSES_ON, "no trap of ours is waited for, and one of the program's is")  \
	X(sigwaitinfo, PASSES_ON, "the same")                                                \
	X(sigtimedwait, PASSES_ON, "the same")                                               \
	X(signalfd, PASSES_ON, "the same")                                                   \
	/* sleeps.c */                                                                       \
	X(poll, PASSES_ON, "after a stop it goes on: our trap is not to have it fail")       \
	X(__poll, ANSWERS, "the same")                                                       \
	X(__poll_chk, PASSES_ON, "the same")                                                 \
	X(select, PASSES_ON, "the same")                                                     \
	X(__select, ANSWERS, "the same")                                                     \
	X(pause, PASSES_ON, "the same")                                                      \
	X(nanosleep, PASSES_ON, "the same")                                                  \
	X(__nanosleep, ANSWERS, "the same")                                                  \
	X(clock_nanosleep, PASSES_ON, "the same")                                            \
	X(usleep, ANSWERS, "the same: within libc it does not pass nanosleep()")             \
	X(sleep, PASSES_ON, "the same")                                                      \
	X(thrd_sleep, PASSES_ON, "the same")                                                 \
	X(sem_timedwait, PASSES_ON, "the same")                                              \
	X(sem_clockwait, PASSES_ON, "the same")                                              \
	X(msgrcv, PASSES_ON, "the same")                                                     \
	X(msgsnd, PASSES_ON, "the same")                                                     \
	/* stack_flags.c */                                                                  \
	X(sigaltstack, ANSWERS, "each thread has one of ours in the kernel, for our trap")   \
	/* debugger.c */                                                                     \
	X(ptrace, PASSES_ON,                                                                 \
	  "a process that is about to be traced gets no trap of ours any more")

enum signals_hook { SIGNALS_HOOKS(HOOK_NUMBER) };

extern const struct hooks signals_hooks;
#define HOOK_NEXT(name) HOOK_NEXT_OF(signals_hooks, name)
