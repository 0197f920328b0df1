#include "attach/needed_calls.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "attach/attach_internal.h"

#define ROW(call, text, or_else) .number = SYS_##call, .name = (text), .otherwise = (or_else)
#define CALL(call)               ROW(call, #call "()", NEEDED_ALWAYS)
#define MAY_FAIL(call)           ROW(call, #call "()", NEEDED_OR_FAILS)
#define MAY_BE_UNKNOWN(call)     ROW(call, #call "()", NEEDED_OR_UNKNOWN)
#define ONLY(i, value)           .known = 1U << (i), .arguments = { [i] = (value) }
/* With any flags. */
#define MEMORY(call, protection) \
	ROW(call, #call "(" #protection ")", NEEDED_ALWAYS), ONLY(2, protection)
/* glibc, nptl/pthread_create.c, create_thread(). */
#define THREAD_FLAGS                                                                        \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD | \
	 CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

const struct needed_call needed_calls[] = {
	/* Memory, needed by all parts. */
	{ MEMORY(mmap, PROT_NONE) },
	{ MEMORY(mmap, PROT_READ) },
	{ MEMORY(mmap, PROT_READ | PROT_WRITE) },
	{ MEMORY(mmap, PROT_READ | PROT_EXEC) },
	{ MEMORY(mprotect, PROT_NONE) },
	{ MEMORY(mprotect, PROT_READ) },
	{ MEMORY(mprotect, PROT_READ | PROT_WRITE) },
	{ CALL(munmap) },
	{ MAY_FAIL(madvise) },
	{ MAY_FAIL(brk) },
	{ MAY_FAIL(mremap) },

	/* On the stopped thread. */
	{ CALL(clone), ONLY(0, ATTACH_CLONE_FLAGS) },
	{ CALL(getpid) },
	{ CALL(rt_sigreturn) },
	{ CALL(restart_syscall) },

	/* By libc, to begin and end a thread, and to load a library. */
	{ MAY_BE_UNKNOWN(clone3) },
	{ CALL(clone), ONLY(0, THREAD_FLAGS) },
	{ MAY_FAIL(set_robust_list) },
	{ MAY_FAIL(rseq) },
	{ MAY_FAIL(getrandom) },
	{ MAY_FAIL(sched_yield) },
	{ MAY_FAIL(sched_getaffinity) },
	{ MAY_FAIL(prlimit64) },
	{ CALL(futex) },
	{ CALL(exit) },
	{ CALL(openat), ONLY(2, O_RDONLY | O_CLOEXEC) },
	{ CALL(read) },
	{ MAY_FAIL(pread64) },
	{ CALL(newfstatat) },
	{ CALL(fstat) },
	{ CALL(close) },
	{ MAY_FAIL(getcwd) },
	{ MAY_FAIL(readlink) },

	/* By the stub, and for the agent's handshake. */
	{ MAY_FAIL(prctl), ONLY(0, PR_SET_NAME) },
	{ CALL(nanosleep) },
	{ CALL(memfd_create) },
	{ CALL(socketpair), ONLY(0, AF_UNIX) },
	{ MAY_FAIL(socket), ONLY(0, AF_UNIX) },
	{ MAY_FAIL(connect) },
	{ CALL(getsockopt) },
	{ CALL(setsockopt) },
	{ CALL(sendto) },
	{ CALL(recvmsg) },
	{ CALL(fcntl) },
	{ CALL(lseek) },
	{ CALL(prctl), ONLY(0, PR_GET_SECCOMP) },
	{ CALL(getuid) },
	{ CALL(geteuid) },

	/*
	 * Signals, clocks and timers, by the agent's handler and by functions that it interposes.
	 */
	{ CALL(rt_sigaction) },
	{ CALL(rt_sigprocmask) },
	{ CALL(rt_sigpending) },
	{ CALL(rt_sigtimedwait) },
	{ CALL(rt_sigqueueinfo) },
	{ CALL(rt_tgsigqueueinfo) },
	{ CALL(tgkill) },
	{ CALL(sigaltstack) },
	{ CALL(gettid) },
	{ CALL(clock_gettime) },
	{ CALL(getrusage) },
	{ MAY_FAIL(timer_create) },
	{ MAY_FAIL(timer_settime) },
	{ MAY_FAIL(timer_delete) },
	{ MAY_FAIL(getdents64) },
};

const size_t needed_call_count = sizeof needed_calls / sizeof needed_calls[0];
