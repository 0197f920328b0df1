/*
 * clock_read - reads the kernel's clocks of the calling thread and of the process.
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/core/own_ring.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/cpu_time.h"
#include "agent/core/thread_notes.h"
#include "agent/sample/clock.h"
#include "agent/sample/clock_internal.h"

static u64 timeval_ns(const struct timeval *time)
{
	return (u64)time->tv_sec * NS_PER_SECOND + (u64)time->tv_usec * 1000;
}

u64 clock_user_ns(int who)
{
	struct rusage usage;

	return arch_syscall4(SYS_getrusage, who, (long)&usage, 0, 0) == 0
		       ? timeval_ns(&usage.ru_utime)
		       : 0;
}

u64 clock_switches(int who, u64 *out_waits, u64 *out_system_ns)
{
	struct rusage usage;

	*out_system_ns = *out_waits = 0;
	if (arch_syscall4(SYS_getrusage, who, (long)&usage, 0, 0) != 0)
		return 0;
	*out_waits = (u64)usage.ru_nvcsw;
	*out_system_ns = timeval_ns(&usage.ru_stime);
	return (u64)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/* A CPU clock's time less the cost of switches, which an event on the thread raises. */
static u64 without_switches(const struct ring_header *ring, u64 cpu_ns, u64 switches)
{
	const u64 cost_ns = switches * __atomic_load_n(&ring->switch_cost_ns, __ATOMIC_RELAXED);

	return cpu_ns > cost_ns ? cpu_ns - cost_ns : 0;
}

AGENT_START u64 clock_process_ns(const struct ring_header *ring)
{
	u64 waits, system_ns;

	if (own_ring.terms.flags & RING_CLOCK_USER)
		return clock_user_ns(RUSAGE_SELF);
	if (__atomic_load_n(&own_ring.has_timers, __ATOMIC_RELAXED))
		return kernel_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return without_switches(ring, kernel_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
				clock_switches(RUSAGE_SELF, &waits, &system_ns));
}

u64 clock_read_switches(struct ring_header *ring)
{
	const u64 system_before_ns = clock_own.system_ns;
	const u64 waits_before = clock_own.waits;
	const u64 switches =
		clock_switches(RUSAGE_THREAD, &clock_own.waits, &clock_own.system_ns);

	if (switches > clock_own.switches && thread_notes.last_time_ns != 0) {
		__atomic_fetch_add(&ring->switches, switches - clock_own.switches,
				   __ATOMIC_RELAXED);
		__atomic_fetch_add(&ring->waits, clock_own.waits - waits_before,
				   __ATOMIC_RELAXED);
	}
	clock_own.switches = switches;
	return clock_own.system_ns - system_before_ns;
}

u64 clock_thread_ns(const struct ring_header *ring)
{
	if ((own_ring.terms.flags & RING_TIMER) && (own_ring.terms.flags & RING_CLOCK_USER))
		return clock_user_ns(RUSAGE_THREAD);
	clock_own.read_ns = kernel_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (thread_notes.is_by_timers)
		return clock_own.read_ns;
	return without_switches(ring, clock_own.read_ns, clock_own.switches);
}
