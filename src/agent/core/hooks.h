/*
 * hooks - every function of the target that the agent stands before, and why.
 *
 * A row is a function's name, what the agent's own does in the end, and the reason.  One that
 * PASSES_ON calls the next definition of its name (libc's, or a sanitizer's); one that ANSWERS
 * makes the system call itself.  The files that define them are grouped here by row.
 */
#pragma once
#include "agent/core/arch.h"

#define HOOK_MAP(X)                                                                            \
	/* threads.c */                                                                        \
	X(dlclose, PASSES_ON, "addresses lose their meaning: rules kept for them are dropped") \
	X(pthread_create, PASSES_ON,                                                           \
	  "each thread has a signal stack of ours, and a timer where those trigger")           \
	X(thrd_create, PASSES_ON, "the same: within libc it does not pass pthread_create()")   \
	/* thread_end.c */                                                                     \
	X(_exit, PASSES_ON, "what its process has burned is noted")                            \
	X(_Exit, PASSES_ON, "the same")                                                        \
	/* trace/python/profile_function.c */                                                  \
	X(pthread_setspecific, PASSES_ON,                                                      \
	  "a thread state is seen before it executes anything")                                \
	/* trace/ruby/ruby.c */                                                                \
	X(getenv, PASSES_ON, "RUBYLIB is asked for when an interpreter has been set up")       \
	X(isatty, PASSES_ON, "the first that a Ractor asks for")                               \
	/* trace/native/hooks.c */                                                             \
	X(__cyg_profile_func_enter, PASSES_ON, "calls of compiled code are traced")            \
	X(__cyg_profile_func_exit, PASSES_ON, "the same")                                      \
	ARCH_HOOK_MAP(X)                                                                       \
	/* trace/native/jumps.c */                                                             \
	X(longjmp, PASSES_ON, "calls that are left by it are over")                            \
	X(_longjmp, PASSES_ON, "the same")                                                     \
	X(siglongjmp, PASSES_ON, "the same")                                                   \
	X(__longjmp_chk, PASSES_ON, "the same")                                                \
	X(_dl_find_object, PASSES_ON, "unwinders ask it where a table is: calls may be over")  \
	/* namespaces.c */                                                                     \
	X(dlmopen, PASSES_ON, "what it loads has a libc of its own, which does not pass us")   \
	/* other_files.c */                                                                    \
	X(chroot, PASSES_ON, "the recorder is found before it, if it is still to be asked")    \
	X(unshare, PASSES_ON, "the same")                                                      \
	X(setns, PASSES_ON, "the same")                                                        \
	/* actions.c */                                                                        \
	X(sigaction, PASSES_ON, "SIGTRAP's action is ours, and reported as the program's")     \
	X(__sigaction, ANSWERS, "the same")                                                    \
	/* signal_calls.c */                                                                   \
	X(signal, PASSES_ON, "the same, of SIGTRAP")                                           \
	X(bsd_signal, PASSES_ON, "the same")                                                   \
	X(ssignal, PASSES_ON, "the same")                                                      \
	X(sysv_signal, PASSES_ON, "the same")                                                  \
	X(__sysv_signal, PASSES_ON, "the same")                                                \
	X(sigset, PASSES_ON, "the same")                                                       \
	X(sigignore, PASSES_ON, "the same")                                                    \
	X(siginterrupt, PASSES_ON, "the same")                                                 \
	/* masks.c */                                                                          \
	X(sigprocmask, ANSWERS, "a thread that blocks every signal is sampled all the same")   \
	X(pthread_sigmask, ANSWERS, "the same")                                                \
	X(sighold, PASSES_ON, "the same, of SIGTRAP")                                          \
	X(sigrelse, PASSES_ON, "the same")                                                     \
	X(sigblock, ANSWERS, "the same")                                                       \
	X(sigsetmask, ANSWERS, "the same")                                                     \
	X(siggetmask, ANSWERS, "the mask as the program set it")                               \
	X(sigpending, PASSES_ON, "a SIGTRAP that waits is reported as one")                    \
	X(pthread_attr_setsigmask_np, PASSES_ON, "the mask a thread begins with")              \
	X(pthread_attr_getsigmask_np, PASSES_ON, "the same")                                   \
	/* sends.c */                                                                          \
	X(raise, PASSES_ON, "a SIGTRAP of its own is not lost where one of ours is pending")   \
	X(gsignal, ANSWERS, "the same")                                                        \
	X(tgkill, PASSES_ON, "the same")                                                       \
	X(pthread_kill, PASSES_ON, "the same")                                                 \
	X(pthread_sigqueue, PASSES_ON, "the same")                                             \
	/* waits.c */                                                                          \
	X(ppoll, PASSES_ON, "with every signal blocked it is sampled all the same")            \
	X(__ppoll_chk, PASSES_ON, "the same")                                                  \
	X(pselect, PASSES_ON, "the same")                                                      \
	X(epoll_pwait, PASSES_ON, "the same")                                                  \
	X(epoll_pwait2, PASSES_ON, "the same")                                                 \
	X(sigsuspend, PASSES_ON, "the same")                                                   \
	X(__sigsuspend, ANSWERS, "the same")                                                   \
	X(sigpause, PASSES_ON, "the same")                                                     \
	X(__sigpause, PASSES_ON, "the same")                                                   \
	X(__xpg_sigpause, PASSES_ON, "the same")                                               \
	X(sigwait, PASSES_ON, "no trap of ours is waited for, and one of the program's is")    \
	X(sigwaitinfo, PASSES_ON, "the same")                                                  \
	X(sigtimedwait, PASSES_ON, "the same")                                                 \
	X(signalfd, PASSES_ON, "the same")                                                     \
	/* sleeps.c */                                                                         \
	X(poll, PASSES_ON, "after a stop it goes on: our trap is not to have it fail")         \
	X(__poll, ANSWERS, "the same")                                                         \
	X(__poll_chk, PASSES_ON, "the same")                                                   \
	X(select, PASSES_ON, "the same")                                                       \
	X(__select, ANSWERS, "the same")                                                       \
	X(pause, PASSES_ON, "the same")                                                        \
	X(nanosleep, PASSES_ON, "the same")                                                    \
	X(__nanosleep, ANSWERS, "the same")                                                    \
	X(clock_nanosleep, PASSES_ON, "the same")                                              \
	X(usleep, ANSWERS, "the same: within libc it does not pass nanosleep()")               \
	X(sleep, PASSES_ON, "the same")                                                        \
	X(thrd_sleep, PASSES_ON, "the same")                                                   \
	X(sem_timedwait, PASSES_ON, "the same")                                                \
	X(sem_clockwait, PASSES_ON, "the same")                                                \
	X(msgrcv, PASSES_ON, "the same")                                                       \
	X(msgsnd, PASSES_ON, "the same")                                                       \
	/* copies.c */                                                                         \
	X(_Fork, PASSES_ON, "a copy of this process does not count in its parent's trace")     \
	X(clone, PASSES_ON, "the same")                                                        \
	/* exec.c */                                                                           \
	X(execve, ANSWERS, "the next image is entered unseen, and no late trap kills it")      \
	X(execveat, ANSWERS, "the same")                                                       \
	X(fexecve, ANSWERS, "the same")                                                        \
	X(execv, ANSWERS, "the same")                                                          \
	X(execvp, ANSWERS, "the same")                                                         \
	X(execvpe, ANSWERS, "the same")                                                        \
	X(execl, ANSWERS, "the same")                                                          \
	X(execle, ANSWERS, "the same")                                                         \
	X(execlp, ANSWERS, "the same")                                                         \
	/* launch.c */                                                                         \
	X(posix_spawn, PASSES_ON, "the same: within libc it does not pass execve()")           \
	X(posix_spawnp, PASSES_ON, "the same")                                                 \
	/* system.c */                                                                         \
	X(system, PASSES_ON, "the same: within libc it does not pass posix_spawn()")           \
	/* popen.c */                                                                          \
	X(popen, PASSES_ON, "the same")                                                        \
	X(pclose, PASSES_ON, "the shell behind a stream of ours is waited for")                \
	X(fclose, PASSES_ON, "the same")                                                       \
	/* altstack.c */                                                                       \
	X(sigaltstack, ANSWERS, "each thread has one of ours in the kernel, for our trap")     \
	/* signals/debugger.c */                                                               \
	X(ptrace, PASSES_ON, "who is about to be traced gets no trap of ours any more")        \
	/* seccomp.c */                                                                        \
	X(prctl, ANSWERS, "a filter that may forbid our system calls is noticed")              \
	X(syscall, ANSWERS, "the same; and signals as by libc's own functions")

enum hook {
#define X(name, kind, why) HOOK_##name,
	HOOK_MAP(X)
#undef X
		HOOK_COUNT,
};

typedef void (*hook_function)(void);

/*
 * Finds the next definitions, in the constructor: dlsym() is not async-signal-safe, and some
 * of these functions are.
 */
void hooks_find(void);
/* The next definition of a function that PASSES_ON. */
hook_function hook_next(enum hook hook);

/* The same with the function's own type: HOOK_NEXT(dlclose)(handle). */
#define HOOK_NEXT(name) ((__typeof__(name) *)hook_next(HOOK_##name))

/* Interposed functions are the only names the agent exports. */
#define AGENT_EXPORT __attribute__((visibility("default")))
