#include "remote/calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#define CALL(call, on, argument)                          \
	{                                                 \
		SYS_##call, #call, CALL_ON_##on, argument \
	}

static const struct call calls[] = {
	CALL(read, DESCRIPTOR, 0),
	CALL(write, DESCRIPTOR, 0),
	CALL(pread64, DESCRIPTOR, 0),
	CALL(pwrite64, DESCRIPTOR, 0),
	CALL(readv, DESCRIPTOR, 0),
	CALL(writev, DESCRIPTOR, 0),
	CALL(preadv, DESCRIPTOR, 0),
	CALL(pwritev, DESCRIPTOR, 0),
	CALL(accept, DESCRIPTOR, 0),
	CALL(accept4, DESCRIPTOR, 0),
	CALL(connect, DESCRIPTOR, 0),
	CALL(recvfrom, DESCRIPTOR, 0),
	CALL(recvmsg, DESCRIPTOR, 0),
	CALL(recvmmsg, DESCRIPTOR, 0),
	CALL(sendto, DESCRIPTOR, 0),
	CALL(sendmsg, DESCRIPTOR, 0),
	CALL(sendmmsg, DESCRIPTOR, 0),
	CALL(sendfile, DESCRIPTOR, 1),
	CALL(splice, DESCRIPTOR, 0),
	CALL(fsync, DESCRIPTOR, 0),
	CALL(fdatasync, DESCRIPTOR, 0),
	CALL(flock, DESCRIPTOR, 0),
	CALL(fcntl, DESCRIPTOR, 0),
	CALL(ioctl, DESCRIPTOR, 0),
	CALL(ftruncate, DESCRIPTOR, 0),
	CALL(fallocate, DESCRIPTOR, 0),
	CALL(getdents64, DESCRIPTOR, 0),
	CALL(close, DESCRIPTOR, 0),
	CALL(io_uring_enter, DESCRIPTOR, 0),
	CALL(epoll_pwait, EPOLL, 0),
	CALL(ppoll, POLL, 0),
	CALL(pselect6, SELECT, 0),
	CALL(nanosleep, TIME, 0),
	CALL(clock_nanosleep, TIME, 2),
	CALL(futex, FUTEX, 0),
	CALL(wait4, PROCESS, 0),
	CALL(waitid, PROCESS, 1),
	CALL(rt_sigtimedwait, NOTHING, 0),
	CALL(rt_sigsuspend, NOTHING, 0),
	CALL(restart_syscall, NOTHING, 0),
	CALL(openat, NOTHING, 0),
	CALL(msgrcv, NOTHING, 0),
	CALL(msgsnd, NOTHING, 0),
	CALL(mq_timedreceive, DESCRIPTOR, 0),
	CALL(semtimedop, NOTHING, 0),
	CALL(semop, NOTHING, 0),
	CALL(sync, NOTHING, 0),
	CALL(munmap, NOTHING, 0),
	CALL(mmap, NOTHING, 0),
	CALL(madvise, NOTHING, 0),
	CALL(execve, NOTHING, 0),
	CALL(exit, NOTHING, 0),
	CALL(exit_group, NOTHING, 0),
	CALL(ptrace, NOTHING, 0),
#ifdef SYS_poll
	CALL(poll, POLL, 0),
	CALL(select, SELECT, 0),
	CALL(epoll_wait, EPOLL, 0),
	CALL(pause, NOTHING, 0),
	CALL(open, NOTHING, 0),
	CALL(vfork, NOTHING, 0),
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
