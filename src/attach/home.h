/*
 * home - the registers with which a stopped thread goes on as if nothing had happened.
 *
 * PTRACE_INTERRUPT makes a system call that waits return to the kernel's exit path, where it would
 * be begun anew; it is there that the thread stops.  Since other system calls are made on it
 * first, what the kernel would have done then is done here: the instruction pointer goes back to
 * the `syscall` instruction, and rax has the call's number again.
 *
 * A few calls (epoll_wait(2), sigtimedwait(2), signal(7) lists them) return EINTR even then.  They
 * are begun anew as well; a time that they were to wait at most begins anew with them.
 */
#pragma once
#include <stdbool.h>
#include <sys/user.h>

/* A thread at its stop; stopped: as PTRACE_GETREGS has it. */
struct home {
	struct user_regs_struct resumed; /* with which it goes on when we are done */
	/*
	 * The same if the kernel's memory of a call that waits for a time is lost, which is what
	 * rt_sigreturn(2) does: it waits for all of that time once more.
	 */
	struct user_regs_struct restored;
	bool is_in_call; /* it was in a system call */
};

/* NULL, or why nothing may be executed on the thread at this moment: a literal. */
const char *home_of(const struct user_regs_struct *stopped, struct home *out_home);
