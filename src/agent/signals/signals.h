/*
 * signals - uses SIGTRAP for samples, and keeps the program's SIGTRAP on another signal.
 *
 * The kernel has one action for SIGTRAP, which is our handler, and every thread must let the
 * signal in.  The program's own use of SIGTRAP (its action, blocking it, waiting for it) has to
 * be kept all the same, and masks change in many ways: by sigprocmask(), by a handler that
 * begins or ends, by siglongjmp() and swapcontext(), for the duration of a ppoll(), by a new
 * thread that inherits one, by libc in places that no wrapper sees.  So not the agent keeps it,
 * but the kernel, on another signal, the substitute:
 *
 *   the program                            the kernel
 *   blocks SIGTRAP                         blocks the substitute
 *   handles it with flags and a mask       the substitute's action has them, and a handler
 *                                          of ours that calls the program's (forward.c)
 *   is sent one                            on_trap() sees that it is not ours, and sends it on
 *                                          as the substitute, which is delivered now, or pending
 *                                          for as long as it is blocked, or taken by sigwait()
 *   sends itself one                       is given the substitute (self_signals.c)
 *
 * The substitute is SIGSTKFLT: the kernel never sends it (signal(7): "unused"), and hardly any
 * program does.  A program that uses it still gets it, and its own action is called; it only
 * cannot block SIGSTKFLT and SIGTRAP separately: SIGSTKFLT is held back when SIGTRAP is.
 *
 * sigaction() reports for both signals what the program set (actions.c), while the kernel has
 * our actions.  Decision 0009 has what remains visible.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "abi/types.h"
#include "agent/core/mechanism.h"

#define SIGNAL_SUBSTITUTE SIGSTKFLT
#define SIGNAL_LAST       64

#define SIGNAL_BIT(signal) (1ULL << ((signal)-1))
#define TRAP_BIT           SIGNAL_BIT(SIGTRAP)
#define SUBSTITUTE_BIT     SIGNAL_BIT(SIGNAL_SUBSTITUTE)

/* Not blocked in our handler: if the stack ends there, the program was about to overflow it. */
#define SIGNALS_OF_FAULTS (SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS))

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

/* The kernel's own width: a sigset_t has room for 1,024 signals. */
#define KERNEL_SIGSET_BYTES 8

/* Converts a set of the program's to what the kernel is given. */
static inline u64 signals_to_kernel(u64 theirs)
{
	const u64 others = theirs & ~(TRAP_BIT | SUBSTITUTE_BIT);

	return theirs & TRAP_BIT ? others | SUBSTITUTE_BIT : others;
}

/*
 * Converts a set of the kernel's to what the program sees.  has_substitute: whether the substitute
 * itself is in it; callers remember that, since the kernel's bit stands for SIGTRAP.
 */
static inline u64 signals_to_program(u64 kernel, bool has_substitute)
{
	const u64 others = kernel & ~SUBSTITUTE_BIT;

	return others | (kernel & SUBSTITUTE_BIT ? TRAP_BIT : 0) |
	       (has_substitute ? SUBSTITUTE_BIT : 0);
}

static inline u64 signals_of(const sigset_t *set)
{
	u64 signals;

	__builtin_memcpy(&signals, set, sizeof signals);
	return signals;
}

/* The rest of *out is untouched, as in libc: sigset_t may be the kernel's, of 8 bytes. */
static inline void signals_put(sigset_t *out, u64 signals)
{
	__builtin_memcpy(out, &signals, sizeof signals);
}

/* The program's set for the kernel, where libc wants a sigset_t. */
static inline sigset_t signals_as_kernel(const sigset_t *theirs)
{
	sigset_t set = { 0 };

	signals_put(&set, signals_to_kernel(signals_of(theirs)));
	return set;
}

/*
 * Makes SIGTRAP ours.  is_ignored: the program inherited it as ignored; otherwise as default.
 * In the constructor, before anything may send a trap.
 */
void signals_begin(bool is_ignored);
/* Restores the program's actions and mask.  No trap may come any more, nor other threads exist. */
void signals_give_back(void);

/* Installs our handler again, with a mask that has changed: ignored.h. */
void signals_install_again(void);

/*
 * In a child of fork.  If its parent was made by _Fork() or clone(2), that parent's actions are in
 * the kernel only, as a vfork child's are; from now on the agent keeps them.
 */
void signals_take_over(void);

/* Installs the substitute's action again, with the flags that stack_flags.h now allows. */
void signals_flags_have_changed(void);

/*
 * The step show_signals (core/mechanism.h): gives the kernel the calling thread's mask as the
 * program set it, and the actions that are to be ignored.  must_ignore_trap: also where the
 * program's own action is the default (decision 0003).  Async-signal-safe; in a vfork child it
 * changes the child only.
 */
void signals_show(bool must_ignore_trap, struct signals_shown *out_shown);
/* The exec failed, or the spawn is done. */
void signals_hide(const struct signals_shown *shown);

/* Has the kernel ignore SIGTRAP; forced traps kill then.  True if our handler was installed. */
bool signals_ignore_trap(void);

/* actions.c: the program's action for SIGTRAP (or the substitute itself). */
struct program_action {
	union {
		void (*handle)(int, siginfo_t *, void *);
		void (*disposition)(int); /* SIG_DFL or SIG_IGN */
	};
	bool is_handler;
	bool is_ignored;
};
/*
 * The action for one signal that is being delivered; one with SA_RESETHAND is the default
 * from then on.  For handlers: takes no lock.
 */
struct program_action actions_take(int signal);
/* The same, without any effect. */
struct program_action actions_peek(int signal);
/*
 * Remember and return an action's mask as the program set it: that may have only one of SIGTRAP and
 * the substitute, and the kernel has one bit for both.
 */
void actions_note_mask(int signal, u64 mask);
u64 actions_mask_as_noted(int signal, u64 kernel);
/* As libc and the kernel would keep and report it. */
struct sigaction actions_as_kept(const struct sigaction *wanted);
void actions_report(const struct sigaction *action, struct sigaction *out);
/* Installs the default action in the kernel, so that the next such signal kills. */
void actions_default_in_kernel(int signal);

/* Handlers: of SIGTRAP (trap.c); of the substitute, and of traps not ours (forward.c). */
void on_trap(int signal, siginfo_t *info, void *context);
/* Makes an on_trap() that begins at context, within another, return at once, if for a sample. */
void trap_leave_to_next(ucontext_t *context);
void forward_on_substitute(int signal, siginfo_t *info, void *context);
void forward_trap(siginfo_t *info, ucontext_t *context);
/* Restores the original signal in info, which a wait for the substitute took; returns it. */
int forward_unmark(siginfo_t *info);
/* Sends a thread of this process a SIGTRAP, or the substitute, with a mark: 0, or -errno. */
long forward_send_marked(int tid, int signal, const siginfo_t *info);
/*
 * self_signals.c: whether signal is SIGTRAP or the substitute, and the agent keeps the calling
 * process's actions (not a vfork child's).
 */
bool self_signal_is_shifted(int signal);
/* In the constructor: finds the functions that it calls. */
void self_signals_begin(void);
/*
 * A system call that waits, on the waiting thread's stack.
 *
 * on_trap() needs it where a signal of the program's has just ended a wait with a mask of its
 * own, and a trap of ours has come as well: the kernel runs our handler first, and when that
 * returns the mask from before the wait is back (kernel/signal.c, sigmask_to_save()).  The
 * program's signal would be blocked again, and the wait would have failed without its handler
 * being run.  So our handler has the call repeated, which that signal then ends as it should.
 */
struct wait {
	const struct wait *self; /* while it lasts */
	struct wait *outer;      /* the one that a handler interrupted to begin this */
	long number, first;      /* the system call, and its first argument */
	bool is_masked;
	u64 mask;     /* the kernel's, if is_masked */
	u64 begin_ns; /* when a poll() with a limit began; or 0 */
	sigset_t kernel_set;
};
/* Begins a wait without a mask: sleeps.c. */
void waits_note(struct wait *wait);
/* Begins a wait, with number and first set and the rest zero; returns the mask for the kernel. */
const sigset_t *waits_begin(struct wait *wait, const sigset_t *mask);
/* Ends it; returns result. */
int waits_end(struct wait *wait, int result);
/* waits.c: whether context is that of a wait whose own mask lets SIGTRAP in. */
bool waits_are_letting_trap_in(const ucontext_t *context);
/* Makes an interrupted wait end by signals of the program's only, not by our trap. */
void waits_mend(ucontext_t *context);
/* Sends the calling thread a signal with any siginfo, which only the thread itself may send. */
void signal_this_thread(int signal, const siginfo_t *info);
/* How many traps were sent on so far: shows whether a wait was interrupted by that alone. */
u32 forward_count(void);

/* masks.c */
void masks_begin(void);
/* sigprocmask(2) on the program's view: 0 or a positive errno. */
int masks_change(int how, const u64 *set, u64 *out_old);
/* The calling thread's mask as the program sees it, and as the kernel has it. */
u64 masks_get(u64 *out_kernel);
void masks_set_kernel(u64 kernel);
/* Blocks SIGTRAP in the kernel in the calling thread, or unblocks it. */
void masks_hold_trap(bool is_held);
