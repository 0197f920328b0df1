#include "agent/sample/cpu_timer.h"

#include <sys/syscall.h>

#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/cpu_time.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

AGENT_START long cpu_timer_make(clockid_t clock, int tid, const void *mark, int *out_timer)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGTRAP,
				  .sigev_value.sival_ptr = (void *)(u64)mark };

	event.sigev_notify_thread_id = tid;
	return arch_syscall4(SYS_timer_create, clock, (long)&event, (long)out_timer, 0);
}

AGENT_START bool cpu_timer_make_own(const void *mark, int *out_timer)
{
	return cpu_timer_make(CLOCK_THREAD_CPUTIME_ID,
			      (int)arch_syscall4(SYS_gettid, 0, 0, 0, 0), mark, out_timer) == 0;
}

AGENT_START static struct timespec timespec_of(u64 ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_SECOND),
				  .tv_nsec = (long)(ns % NS_PER_SECOND) };
}

AGENT_START long cpu_timer_begin(int timer, u64 first_ns, u64 every_ns)
{
	const struct itimerspec times = { .it_interval = timespec_of(every_ns),
					  .it_value = timespec_of(first_ns) };

	return arch_syscall4(SYS_timer_settime, timer, 0, (long)&times, 0);
}

void cpu_timer_delete(int timer)
{
	arch_syscall4(SYS_timer_delete, timer, 0, 0, 0);
}

bool cpu_timer_is_of(const siginfo_t *info, const void *mark)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == mark;
}
