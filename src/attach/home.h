/*
 * home - the registers with which a stopped thread goes on as if nothing had happened.
 *
 * PTRACE_INTERRUPT makes a blocking system call return to the kernel's exit path, where the
 * kernel would restart it; there the thread stops.  As we execute other system calls on it first,
 * we must do ourselves what the kernel would have done then: set the instruction pointer back to
 * the `syscall` instruction, and rax to the call's number.
 *
 * A few calls (epoll_wait(2), sigtimedwait(2); signal(7) lists them) would return EINTR even
 * then.  They are restarted as well; a timeout of theirs begins anew.
 */
#pragma once
#include <stdbool.h>
#include <sys/user.h>

/* How a stopped thread is to go on. */
struct home {
	struct user_regs_struct resumed; /* if ptrace sets them when we are done */
	/*
	 * The same, if rt_sigreturn(2) restores them: the kernel then forgets how long a call
	 * with a timeout has waited, so the call waits for the whole time again.
	 */
	struct user_regs_struct restored;
	bool is_in_call; /* the thread was in a system call */
};

/*
 * stopped: from PTRACE_GETREGS.  NULL, or why nothing may be executed on the thread now: a
 * literal.
 */
const char *home_of(const struct user_regs_struct *stopped, struct home *out_home);
