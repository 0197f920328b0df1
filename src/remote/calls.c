#include "remote/calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#define CALL(call, on, argument, state)                                       \
	{                                                                     \
		SYS_##call, #call, CALL_ON_##on, argument, WAIT_STATE_##state \
	}

static const struct call calls[] = {
	CALL(read, DESCRIPTOR, 0, IO),
	CALL(write, DESCRIPTOR, 0, IO),
	CALL(pread64, DESCRIPTOR, 0, IO),
	CALL(pwrite64, DESCRIPTOR, 0, IO),
	CALL(readv, DESCRIPTOR, 0, IO),
	CALL(writev, DESCRIPTOR, 0, IO),
	CALL(preadv, DESCRIPTOR, 0, IO),
	CALL(pwritev, DESCRIPTOR, 0, IO),
	CALL(accept, DESCRIPTOR, 0, IO),
	CALL(accept4, DESCRIPTOR, 0, IO),
	CALL(connect, ADDRESS, 1, IO),
	CALL(recvfrom, DESCRIPTOR, 0, IO),
	CALL(recvmsg, DESCRIPTOR, 0, IO),
	CALL(recvmmsg, DESCRIPTOR, 0, IO),
	CALL(sendto, DESCRIPTOR, 0, IO),
	CALL(sendmsg, DESCRIPTOR, 0, IO),
	CALL(sendmmsg, DESCRIPTOR, 0, IO),
	CALL(sendfile, DESCRIPTOR, 0, IO),
	CALL(splice, SPLICE, 0, IO),
	CALL(fsync, DESCRIPTOR, 0, IO),
	CALL(fdatasync, DESCRIPTOR, 0, IO),
	CALL(flock, DESCRIPTOR, 0, LOCK),
	CALL(fcntl, DESCRIPTOR, 0, IO),
	CALL(ioctl, DESCRIPTOR, 0, IO),
	CALL(ftruncate, DESCRIPTOR, 0, IO),
	CALL(fallocate, DESCRIPTOR, 0, IO),
	CALL(getdents64, DESCRIPTOR, 0, IO),
	CALL(close, DESCRIPTOR, 0, IO),
	CALL(io_uring_enter, DESCRIPTOR, 0, IO),
	CALL(epoll_pwait, EPOLL, 0, IO),
	CALL(ppoll, POLL, 0, IO),
	CALL(pselect6, SELECT, 0, IO),
	CALL(nanosleep, TIME, 0, SLEEP),
	CALL(clock_nanosleep, TIME, 2, SLEEP),
	CALL(futex, FUTEX, 0, LOCK),
	CALL(wait4, PROCESS, 0, WAIT),
	CALL(waitid, PROCESS, 1, WAIT),
	CALL(rt_sigtimedwait, NOTHING, 0, WAIT),
	CALL(rt_sigsuspend, NOTHING, 0, WAIT),
	CALL(restart_syscall, NOTHING, 0, SLEEP),
	CALL(openat, PATH, 1, IO),
	CALL(msgrcv, NOTHING, 0, IO),
	CALL(msgsnd, NOTHING, 0, IO),
	CALL(mq_timedreceive, DESCRIPTOR, 0, IO),
	CALL(semtimedop, NOTHING, 0, LOCK),
	CALL(semop, NOTHING, 0, LOCK),
	CALL(msync, NOTHING, 0, IO),
	CALL(sync_file_range, DESCRIPTOR, 0, IO),
	CALL(pwritev2, DESCRIPTOR, 0, IO),
	CALL(preadv2, DESCRIPTOR, 0, IO),
	CALL(copy_file_range, DESCRIPTOR, 0, IO),
	CALL(renameat2, NOTHING, 0, IO),
	CALL(unlinkat, NOTHING, 0, IO),
	CALL(io_getevents, NOTHING, 0, IO),
	CALL(epoll_pwait2, EPOLL, 0, IO),
	CALL(syncfs, DESCRIPTOR, 0, IO),
	CALL(sync, NOTHING, 0, IO),
	/* What reads or writes folders and the properties of files waits for their disk or server. */
	CALL(newfstatat, NOTHING, 0, IO),
	CALL(fstat, DESCRIPTOR, 0, IO),
	CALL(statx, NOTHING, 0, IO),
	CALL(statfs, NOTHING, 0, IO),
	CALL(fstatfs, DESCRIPTOR, 0, IO),
	CALL(faccessat, NOTHING, 0, IO),
	CALL(faccessat2, NOTHING, 0, IO),
	CALL(readlinkat, NOTHING, 0, IO),
	CALL(mkdirat, NOTHING, 0, IO),
	CALL(linkat, NOTHING, 0, IO),
	CALL(symlinkat, NOTHING, 0, IO),
	CALL(renameat, NOTHING, 0, IO),
	CALL(truncate, NOTHING, 0, IO),
	CALL(fchmod, DESCRIPTOR, 0, IO),
	CALL(fchmodat, NOTHING, 0, IO),
	CALL(fchown, DESCRIPTOR, 0, IO),
	CALL(fchownat, NOTHING, 0, IO),
	CALL(utimensat, NOTHING, 0, IO),
	CALL(getxattr, NOTHING, 0, IO),
	CALL(setxattr, NOTHING, 0, IO),
	CALL(fadvise64, DESCRIPTOR, 0, IO),
	CALL(readahead, DESCRIPTOR, 0, IO),
	CALL(mount, NOTHING, 0, IO),
	CALL(umount2, NOTHING, 0, IO),
	CALL(vmsplice, DESCRIPTOR, 0, IO),
	CALL(tee, DESCRIPTOR, 0, IO),
	CALL(mq_timedsend, DESCRIPTOR, 0, IO),
	CALL(io_pgetevents, NOTHING, 0, IO),
	CALL(io_submit, NOTHING, 0, IO),
	/* Other calls wait for a lock of the kernel's, or for memory. */
	CALL(munmap, NOTHING, 0, SYSCALL),
	CALL(mmap, NOTHING, 0, SYSCALL),
	CALL(mremap, NOTHING, 0, SYSCALL),
	CALL(mprotect, NOTHING, 0, SYSCALL),
	CALL(brk, NOTHING, 0, SYSCALL),
	CALL(madvise, NOTHING, 0, SYSCALL),
	CALL(mlock, NOTHING, 0, SYSCALL),
	CALL(membarrier, NOTHING, 0, SYSCALL),
	CALL(sched_yield, NOTHING, 0, SYSCALL),
	CALL(getrandom, NOTHING, 0, SYSCALL),
	CALL(socket, NOTHING, 0, SYSCALL),
	CALL(shutdown, DESCRIPTOR, 0, SYSCALL),
	CALL(setsockopt, DESCRIPTOR, 0, SYSCALL),
	CALL(epoll_ctl, NOTHING, 0, SYSCALL),
	CALL(memfd_create, NOTHING, 0, SYSCALL),
	CALL(unshare, NOTHING, 0, SYSCALL),
	CALL(setns, NOTHING, 0, SYSCALL),
	CALL(perf_event_open, NOTHING, 0, SYSCALL),
	CALL(bpf, NOTHING, 0, SYSCALL),
	CALL(process_vm_readv, NOTHING, 0, SYSCALL),
	/*
	 * The call waits for a child that shares our memory to execute a program or to end
	 * (vfork).
	 */
	CALL(clone, NOTHING, 0, WAIT),
	CALL(clone3, NOTHING, 0, WAIT),
	CALL(execve, NOTHING, 0, SYSCALL),
	CALL(exit, NOTHING, 0, SYSCALL),
	CALL(exit_group, NOTHING, 0, SYSCALL),
	CALL(ptrace, NOTHING, 0, SYSCALL),
#ifdef SYS_poll
	CALL(poll, POLL, 0, IO),
	CALL(select, SELECT, 0, IO),
	CALL(epoll_wait, EPOLL, 0, IO),
	CALL(pause, NOTHING, 0, WAIT),
	CALL(rename, NOTHING, 0, IO),
	CALL(unlink, NOTHING, 0, IO),
	CALL(stat, NOTHING, 0, IO),
	CALL(lstat, NOTHING, 0, IO),
	CALL(access, NOTHING, 0, IO),
	CALL(open, PATH, 0, IO),
	CALL(creat, NOTHING, 0, IO),
	CALL(mkdir, NOTHING, 0, IO),
	CALL(rmdir, NOTHING, 0, IO),
	CALL(link, NOTHING, 0, IO),
	CALL(symlink, NOTHING, 0, IO),
	CALL(readlink, NOTHING, 0, IO),
	CALL(chmod, NOTHING, 0, IO),
	CALL(chown, NOTHING, 0, IO),
	CALL(getdents, DESCRIPTOR, 0, IO),
	CALL(vfork, NOTHING, 0, WAIT),
#endif
#ifdef SYS_openat2
	CALL(openat2, PATH, 1, IO),
#endif
#ifdef SYS_futex_waitv
	CALL(futex_waitv, NOTHING, 0, LOCK),
#endif
	/* Of Linux 6.7, which Debian 12's headers do not know; every machine's number. */
	{ 455, "futex_wait", CALL_ON_NOTHING, 0, WAIT_STATE_LOCK },
};

const struct call *call_find(int64_t number)
{
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		if (calls[i].number == number)
			return &calls[i];
	}
	return NULL;
}
