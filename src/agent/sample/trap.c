/*
 * trap - the SIGTRAP handler, which takes a sample of the thread it interrupts.
 *
 * The signal's code and a mark of ours show what it is: TRAP_PERF for the recorder's event,
 * SI_TIMER for a timer of ours; anything else is the program's (forward.c).  All signals are
 * blocked while it runs, so that no other handler can leave ours by longjmp(), but for SIGSEGV and
 * SIGBUS of a stack that has no room for it: the program handles them as it would its own overflow.
 */
#include "agent/sample/trap.h"

#include <signal.h>
#include <ucontext.h>

#include "abi/handshake.h"
#include "abi/ring.h"
#include "abi/ticks.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/control/control.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/cpu_time.h"
#include "agent/signals/faults.h"
#include "agent/sample/delayed_handshake.h"
#include "agent/core/memory.h"
#include "agent/core/regions.h"
#include "agent/core/thread_notes.h"
#include "agent/core/walk.h"
#include "agent/interpreters/python/python.h"
#include "agent/interpreters/ruby/ruby.h"
#include "agent/sample/budget.h"
#include "agent/sample/clock.h"
#include "agent/sample/emit.h"
#include "agent/sample/kernel_ticks.h"
#include "agent/sample/timers.h"
#include "agent/sample/unwind.h"
#include "agent/signals/altstack.h"
#include "agent/signals/ignored.h"
#include "agent/signals/restart.h"
#include "agent/signals/signals.h"
#include "walk/native.h"

/* 50 us and more on present machines: few walks take that long. */
#define SLOW_TICKS (1U << 18)
/* A walk is slow that takes this part of a period. */
#define SLOW_PART 4
/* A thread's credit for first walks (budget.h): a few hundred rules are found in that time. */
#define CREDIT_NS 3000000
/*
 * One of so many walks of a thread is repeated, which shows how much of its time was fetching into
 * the caches; the first is the eighth, behind those that find rules.
 */
#define REPEAT_EVERY 64
#define REPEAT_AT    8
/* Bytes of stack for a sample without a walk. */
#define LEAST_STACK_NEED 1024

#define SCRATCHES 64

/* Memory for one walk: too large for the interrupted thread's stack. */
struct walk_scratch {
	struct native_scratch rules;
	u64 frames[WALK_MAX_FRAMES];
	struct memory_copies copies;
	struct python_scratch python;
	struct ruby_scratch ruby;
};
static struct walk_scratch scratches[SCRATCHES];
static u64 scratches_in_use AGENT_STATE; /* one bit each */

/* What the agent remembers between handlers of a thread. */
static __thread struct {
	struct walk_scratch *scratch; /* that its handler uses now */
	struct budget budget;         /* of its walks */
	u32 early_traps;              /* that made no sample: the next stands for them */
	u32 walks;                    /* of which some are repeated */
} own;

/* Scratch for this walk, or NULL when 64 threads are in their handlers at this moment. */
static struct walk_scratch *walk_scratch_take(void)
{
	u64 in_use = __atomic_load_n(&scratches_in_use, __ATOMIC_RELAXED);

	for (;;) {
		u64 free = ~in_use;

		if (free == 0)
			return NULL;
		u64 bit = free & -free;

		/* Pairs with the release in walk_scratch_give(). */
		if (__atomic_compare_exchange_n(&scratches_in_use, &in_use, in_use | bit, 0,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &scratches[__builtin_ctzll(bit)];
	}
}

static void walk_scratch_give(struct walk_scratch *scratch)
{
	u64 bit = 1ULL << (scratch - scratches);

	__atomic_fetch_and(&scratches_in_use, ~bit, __ATOMIC_RELEASE);
}

AGENT_START void trap_forget(void)
{
	scratches_in_use = 0;
}

AGENT_START void trap_begin_thread(void)
{
	own.early_traps = own.walks = 0;
}

/* Whether the stack that this handler runs on has `bytes` of room below `here`. */
static bool trap_has_room(const ucontext_t *context, u64 here, u32 bytes)
{
	if (altstack_of_context_holds(context, here))
		return altstack_room(context, here) >= bytes;
	return memory_has_room(here, bytes);
}

/*
 * Walks once more, for the duration alone.  What the walk fetched into the caches displaced as much
 * of the program's, which has to fetch that again: the recorder counts it as a cost.
 */
static void walk_again(struct ring_header *ring, const ucontext_t *context, struct walk *walk,
		       u64 first_ticks)
{
	const u64 begin = ticks_now();

	unwind_walk(context, walk);
	const u64 ticks = ticks_now() - begin;

	/* Otherwise one of the two was preempted, or found rules. */
	if (ticks > first_ticks)
		return;
	__atomic_fetch_add(&ring->first_walk_ticks, first_ticks, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ring->second_walk_ticks, ticks, __ATOMIC_RELAXED);
}

/* Walks, sends the sample, and repeats the walk unless it was slow. */
static void walk_twice(struct ring_header *ring, const struct sample_time *time,
		       const ucontext_t *context, struct walk *walk)
{
	struct walk again = *walk;
	const u64 begin = ticks_now();

	unwind_walk(context, walk);
	const u64 ticks = ticks_now() - begin;

	emit_sample(ring, walk, time);
	if (ticks <= SLOW_TICKS)
		walk_again(ring, context, &again, ticks);
}

/* Walks, and sends the sample. */
static void walk_and_emit(struct ring_header *ring, const struct sample_time *time,
			  const ucontext_t *context, struct walk *walk)
{
	if (own.walks++ % REPEAT_EVERY == REPEAT_AT - 1 &&
	    __atomic_load_n(&permits.may_read_counter, __ATOMIC_RELAXED)) {
		walk_twice(ring, time, context, walk);
		return;
	}
	unwind_walk(context, walk);
	emit_sample(ring, walk, time);
}

static void sample(struct ring_header *ring, const struct sample_time *time,
		   const ucontext_t *context)
{
	struct walk_scratch *scratch;

	if (control_is_paused()) {
		emit_paused(ring, time);
		return;
	}

	/* The thread's last handler overflowed its stack, and was left by longjmp(). */
	if (own.scratch != NULL)
		walk_scratch_give(own.scratch);
	scratch = own.scratch = walk_scratch_take();
	if (scratch == NULL ||
	    !ring_has_room(ring, own_ring.terms.word_count, RING_WORDS(struct ring_sample))) {
		emit_lost(ring, time);
	} else {
		struct walk walk = { .ring = ring,
				     .epoch = __atomic_load_n(&ring->epoch, __ATOMIC_RELAXED),
				     .rules = &scratch->rules,
				     .copies = &scratch->copies,
				     .python = &scratch->python,
				     .ruby = &scratch->ruby,
				     .frames = scratch->frames,
				     .leaf = ARCH_PC_OF(context),
				     .status = WALK_NO_ROOM };

		if (trap_has_room(context, (u64)__builtin_frame_address(0), AGENT_STACK_NEED))
			walk_and_emit(ring, time, context, &walk);
		else
			emit_sample(ring, &walk, time);
	}
	own.scratch = NULL;
	if (scratch != NULL)
		walk_scratch_give(scratch);
}

/* The offset of si_perf_data, the event's sig_data: glibc 2.36 does not declare it. */
#define PERF_DATA_OFFSET 24

/* *out_rung: which of the recorder's events, if it is one. */
static bool is_our_event(const siginfo_t *info, u32 *out_rung)
{
	u64 data;

	__builtin_memcpy(&data, (const char *)info + PERF_DATA_OFFSET, sizeof data);
	if (info->si_code != TRAP_PERF || data - HANDSHAKE_EVENT_MARK >= HANDSHAKE_EVENT_RUNGS)
		return false;
	*out_rung = (u32)(data - HANDSHAKE_EVENT_MARK);
	return true;
}

/*
 * Counts the handler's cost.  A slow one found rules, or faulted in what it read, or was
 * preempted: its cost is what the thread's CPU clock shows.  begin_ns: that clock near its
 * beginning; 0: not read, so the cost is taken to be that of the other handlers.
 */
static void trap_count(struct ring_header *ring, u64 ticks, u64 begin_ns)
{
	if (ticks <= SLOW_TICKS) {
		__atomic_fetch_add(&ring->handler_timed, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&ring->handler_ticks, ticks, __ATOMIC_RELAXED);
	} else if (begin_ns != 0 && permits.may_call) {
		__atomic_fetch_add(&ring->handler_slow, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&ring->handler_slow_ns, cpu_time_of_thread_ns() - begin_ns,
				   __ATOMIC_RELAXED);
	}
}

/* The next sample of the thread stands for this trap as well. */
static void trap_put_off(struct ring_header *ring, u32 overruns)
{
	own.early_traps += 1 + overruns;
	/* Not counted if our own code was interrupted: the walks' cost was not the reason. */
	if (!thread_notes.is_in_agent)
		__atomic_fetch_add(&ring->early_traps, 1, __ATOMIC_RELAXED);
}

/* The thread's CPU time; elapsed time under a filter, which may forbid reading the former. */
static u64 budget_now(void)
{
	return permits.may_call ? cpu_time_of_thread_ns() : ticks_now();
}

/* Whether a walk is allowed now.  *out_begin: when the handler began. */
static bool budget_allows(struct budget *budget, u64 *out_begin)
{
	*out_begin = budget->is_kept ? budget_now() : 0;
	return !budget->is_kept || budget_begin(budget, *out_begin, CREDIT_NS);
}

/* is_slow: by elapsed time, so that the handler may just have been preempted. */
static void budget_settle(struct budget *budget, u64 begin, bool was_walked, bool is_slow)
{
	if (!budget->is_kept && is_slow) {
		budget_open(budget, budget_now());
	} else if (budget->is_kept) {
		const u64 now = budget_now();

		budget_end(budget, begin, now);
		budget->is_kept = !was_walked || is_slow;
	}
}

static void trap_sample(struct ring_header *ring, u32 overruns, const ucontext_t *context)
{
	const bool may_time = __atomic_load_n(&permits.may_read_counter, __ATOMIC_RELAXED);
	const u64 begin = may_time ? ticks_now() : 0;
	const u64 here = (u64)__builtin_frame_address(0);
	const bool has_room = trap_has_room(context, here, LEAST_STACK_NEED);
	u64 budget_start = 0;
	const bool is_walked =
		has_room && (!may_time || budget_allows(&own.budget, &budget_start));

	if (is_walked) {
		const u32 early_traps = own.early_traps;

		own.early_traps = 0;
		const struct sample_time time =
			clock_weigh(ring, overruns + early_traps, ARCH_PC_OF(context));

		sample(ring, &time, context);
	} else {
		trap_put_off(ring, overruns);
	}
	__atomic_fetch_add(&ring->handler_samples, 1, __ATOMIC_RELAXED);
	if (!may_time)
		return;
	const u64 ticks = ticks_now() - begin;

	if (has_room)
		budget_settle(&own.budget, budget_start, is_walked,
			      ticks > own_ring.terms.period_ticks / SLOW_PART);
	trap_count(ring, ticks, is_walked ? clock_weighed_at_ns() : 0);
}

/* A trap that interrupted our own code is left to the next sample. */
static void trap_take(struct ring_header *ring, u32 overruns, const ucontext_t *context)
{
	if (thread_notes.is_in_agent) {
		trap_put_off(ring, overruns);
		__atomic_fetch_add(&ring->handler_samples, 1, __ATOMIC_RELAXED);
	} else {
		trap_sample(ring, overruns, context);
	}
}

/* A timer's tick in a thread whose events count no system time. */
static void trap_take_tick(struct ring_header *ring, const ucontext_t *context)
{
	const bool may_time = __atomic_load_n(&permits.may_read_counter, __ATOMIC_RELAXED);
	const u64 begin = may_time ? ticks_now() : 0;

	if (!kernel_ticks_may_sample(ring) || thread_notes.is_in_agent ||
	    !trap_has_room(context, (u64)__builtin_frame_address(0), LEAST_STACK_NEED))
		return;
	const struct sample_time time = clock_weigh_tick(ring, ARCH_PC_OF(context));

	if (time.weight_ns > 0)
		sample(ring, &time, context);
	__atomic_fetch_add(&ring->handler_samples, 1, __ATOMIC_RELAXED);
	if (may_time)
		trap_count(ring, ticks_now() - begin, clock_weighed_at_ns());
}

void trap_leave_to_next(ucontext_t *context)
{
	const siginfo_t *info = (const siginfo_t *)ARCH_SECOND_ARGUMENT_OF(context);
	u32 rung;

	if (!is_our_event(info, &rung) || own_ring.header == NULL)
		return;
	trap_put_off(own_ring.header, 0);
	__atomic_fetch_add(&own_ring.header->handler_samples, 1, __ATOMIC_RELAXED);
	arch_leave_function(context);
}

void on_trap(int signal, siginfo_t *info, void *context)
{
	/* Pairs with the release in handshake_begin_sampling(): a ring that is seen is whole. */
	struct ring_header *ring = __atomic_load_n(&own_ring.header, __ATOMIC_ACQUIRE);
	u32 rung;

	(void)signal;
	if (is_our_event(info, &rung)) {
		ignored_look();
		if (ring != NULL) {
			clock_set_rung(rung);
			timers_look(ring);
			trap_take(ring, 0, context);
			kernel_ticks_look(ring);
		}
	} else if (kernel_ticks_are_of(info)) {
		ignored_look();
		if (ring != NULL)
			trap_take_tick(ring, context);
	} else if (timers_are_of(info)) {
		ignored_look();
		if (ring != NULL && timers_may_sample(ring, info->si_timerid))
			trap_take(ring, (u32)info->si_overrun, context);
	} else if (delayed_handshake_is_timer(info)) {
		ignored_look();
		delayed_handshake_take();
	} else {
		forward_trap(info, context);
	}
	restart_mend(context);
	waits_mend(context);
	faults_end_trap();
}
