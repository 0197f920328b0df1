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
	CALL(sendfile, DESCRIPTOR, 1, IO),
	CALL(splice, DESCRIPTOR, 0, IO),
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
	CALL(openat, NOTHING, 0, IO),
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
	CALL(munmap, NOTHING, 0, SYSCALL),
	CALL(mmap, NOTHING, 0, SYSCALL),
	CALL(madvise, NOTHING, 0, SYSCALL),
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
	CALL(open, NOTHING, 0, IO),
	CALL(vfork, NOTHING, 0, WAIT),
#endif
};

const struct call *call_find(int64_t number)
{
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		if (calls[i].number == number)
			return &calls[i];
	}
	return NULL;
}
