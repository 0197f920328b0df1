#include "agent/trace/clock.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "abi/trace.h"
#include "agent/core/permits.h"
#include "agent/core/arch.h"
#include "agent/core/cpu_time.h"

/* struct rseq and struct rseq_cs of linux/rseq.h, which older headers do not have. */
struct rseq_head {
	u32 cpu_id_start;
	u32 cpu_id; /* negative: it is not registered */
	u64 critical;
};
struct rseq_piece {
	u32 version;
	u32 flags;
	u64 start;
	u64 length;
	u64 abort;
} __attribute__((aligned(32)));

/* How a thread reads its clock. */
enum reading {
	READING_UNKNOWN,
	READING_BY_MARKER,
	READING_BY_CALL,
};

/* A thread's CPU clock, and how to extrapolate it from the counter. */
struct cpu_clock {
	u64 until;         /* counter value at which it is read anew; 0: at once */
	u64 offset;        /* CPU clock minus counter */
	const u64 *marker; /* the thread's rseq_cs; NULL: not registered */
	enum reading reading;
	bool is_off;             /* the thread has seen that tracing is off */
	u64 skipped, stopped_at; /* as in struct trace_clock, for this clock */
};

/*
 * The range of the rseq descriptor: never executed.  The kernel compares instruction addresses with
 * it, and checks that the word before the abort address is the signature with which the C library
 * registered its threads (RSEQ_SIG of its sys/rseq.h).
 */
static const u32 never_executed[] = { ARCH_RSEQ_SIGNATURE, 0, 0, 0 };

struct trace_clock trace_clock;
static __thread struct cpu_clock own_clock;

static struct {
	struct trace_area *area;
	u64 ticks_per_ns; /* as in struct trace_area */
	u64 longest;      /* ticks for which a reading is valid */
	ptrdiff_t rseq_offset;
	bool has_marker; /* threads are registered, and the kernel clears the marker */
	struct rseq_piece piece;
} cpu;

static u64 ticks_of_ns(u64 ns)
{
	return (ns >> 32) * cpu.ticks_per_ns +
	       ((ns & 0xffffffff) * (cpu.ticks_per_ns >> 4) >> 28);
}

/* Reads the thread's CPU clock by a system call. */
static u64 read_cpu_ticks(void)
{
	return ticks_of_ns(cpu_time_of_thread_ns());
}

static u64 marker_word(void)
{
	return (u64)&cpu.piece;
}

static struct rseq_head *rseq_of_thread(void)
{
	return (struct rseq_head *)(arch_thread_pointer() + (u64)cpu.rseq_offset);
}

/* glibc's __rseq_offset and __rseq_size; the latter is 0 where it has registered nothing. */
static bool find_rseq(void)
{
	const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const unsigned int *size = dlsym(RTLD_DEFAULT, "__rseq_size");

	if (offset == NULL || size == NULL || *size == 0)
		return false;
	cpu.rseq_offset = *offset;
	return (int)rseq_of_thread()->cpu_id >= 0;
}

/* Whether a sleep clears the marker.  Tried twice: a preemption just then clears it as well. */
static bool is_cleared_by_sleep(void)
{
	u64 *marker = &rseq_of_thread()->critical;
	bool is_cleared = true;

	for (u32 i = 0; i < 2; i++) {
		const struct timespec shortest = { .tv_nsec = 1 };

		__atomic_store_n(marker, marker_word(), __ATOMIC_RELAXED);
		arch_syscall4(SYS_nanosleep, (long)&shortest, 0, 0, 0);
		is_cleared = is_cleared && __atomic_load_n(marker, __ATOMIC_RELAXED) == 0;
		__atomic_store_n(marker, 0, __ATOMIC_RELAXED);
	}
	return is_cleared;
}

void trace_clock_begin(struct trace_area *area)
{
	if (area->ticks_per_ns == 0)
		return;
	cpu.area = area;
	cpu.ticks_per_ns = area->ticks_per_ns;
	cpu.longest = ticks_of_ns(1000000);
	cpu.piece = (struct rseq_piece){ .start = (u64)&never_executed[3],
					 .length = 1,
					 .abort = (u64)&never_executed[1] };
	if (!permits.may_call || !find_rseq())
		area->cpu_clock = TRACE_CPU_CLOCK_UNREGISTERED;
	else if (rseq_of_thread()->critical != 0 || !is_cleared_by_sleep())
		area->cpu_clock = TRACE_CPU_CLOCK_NOT_CLEARED;
	else
		cpu.has_marker = true;
	trace_clock.is_cpu = true;
	trace_clock.is_special = true;
}

u64 trace_clock_counter(void)
{
	return __atomic_load_n(&trace_clock.is_frozen, __ATOMIC_ACQUIRE) ? trace_clock.frozen_at
									 : ticks_now();
}

static void set_special(void)
{
	__atomic_store_n(&trace_clock.is_special,
			 trace_clock.is_off || trace_clock.is_cpu || trace_clock.is_frozen,
			 __ATOMIC_RELEASE);
}

void trace_clock_freeze(void)
{
	trace_clock.frozen_at = trace_clock_counter();
	__atomic_store_n(&trace_clock.is_frozen, true, __ATOMIC_RELEASE);
	set_special();
}

void trace_clock_thaw(void)
{
	__atomic_store_n(&trace_clock.is_frozen, false, __ATOMIC_RELEASE);
	set_special();
}

void trace_clock_stop(void)
{
	trace_clock.stopped_at = trace_clock_counter() - trace_clock.skipped;
	__atomic_store_n(&trace_clock.is_off, true, __ATOMIC_RELEASE);
	set_special();
}

void trace_clock_go_on(void)
{
	trace_clock.skipped = trace_clock_counter() - trace_clock.stopped_at;
	__atomic_store_n(&trace_clock.is_off, false, __ATOMIC_RELEASE);
	set_special();
}

void trace_clock_forget(void)
{
	own_clock.until = 0;
}

static void begin_thread(struct cpu_clock *own)
{
	const bool has_marker = cpu.has_marker && (int)rseq_of_thread()->cpu_id >= 0;

	own->marker = has_marker ? &rseq_of_thread()->critical : NULL;
	own->reading = has_marker ? READING_BY_MARKER : READING_BY_CALL;
}

/* The program's own code uses rseq_cs: read this thread's clock by system calls from now on. */
static void leave_to_program(struct cpu_clock *own)
{
	own->reading = READING_BY_CALL;
	__atomic_fetch_add(&cpu.area->foreign_threads, 1, __ATOMIC_RELAXED);
}

static u64 read_anew(struct cpu_clock *own, u64 ticks)
{
	/* A seccomp filter may forbid the call: from then on, the clock includes waiting time. */
	if (!permits.may_call)
		return ticks + own->offset;
	if (own->reading == READING_UNKNOWN)
		begin_thread(own);
	if (own->reading == READING_BY_MARKER) {
		u64 *marker = &rseq_of_thread()->critical;
		const u64 found = __atomic_load_n(marker, __ATOMIC_RELAXED);

		if (found != 0 && found != marker_word())
			leave_to_program(own);
		else
			/* Before the reading: an interruption from here on clears it. */
			__atomic_store_n(marker, marker_word(), __ATOMIC_RELAXED);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	const u64 cpu_ticks = read_cpu_ticks();
	const u64 now = trace_clock_counter();

	own->offset = cpu_ticks - own->skipped - now;
	own->until = own->reading == READING_BY_MARKER && !trace_clock.is_frozen
			     ? now + cpu.longest
			     : 0;
	return cpu_ticks - own->skipped;
}

/* The slow path: the reading is too old, or tracing is off, or was at this thread's last event. */
static __attribute__((noinline)) u64 read_slowly(struct cpu_clock *own, u64 ticks)
{
	const bool is_off = __atomic_load_n(&trace_clock.is_off, __ATOMIC_ACQUIRE);

	if (!trace_clock.is_cpu)
		return is_off ? trace_clock.stopped_at : ticks - trace_clock.skipped;
	if (is_off && own->is_off)
		return own->stopped_at;
	const u64 now = read_anew(own, ticks);

	if (is_off == own->is_off)
		return now;
	if (is_off)
		own->stopped_at = now;
	else
		own->skipped += now - own->stopped_at;
	own->is_off = is_off;
	own->until = 0;
	return own->stopped_at;
}

u64 trace_clock_special(void)
{
	struct cpu_clock *own = &own_clock;
	const u64 ticks = trace_clock_counter();

	/* The counter was read before the marker: if it is still set, the thread ran until then. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(ticks < own->until &&
				     __atomic_load_n(own->marker, __ATOMIC_RELAXED) ==
					     marker_word() &&
				     !__atomic_load_n(&trace_clock.is_off, __ATOMIC_RELAXED),
			     1))
		return ticks + own->offset;
	return read_slowly(own, ticks);
}
