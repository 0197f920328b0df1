/*
 * trap - the SIGTRAP handler: one sample of the thread it interrupts.
 *
 * The signal's code says what it is: TRAP_PERF for the recorder's event, SI_TIMER for a timer
 * of ours.  All signals are blocked while it runs, so that no other handler can leave ours
 * by longjmp().
 */
#include "vantage/agent/agent.h"

#include <signal.h>
#include <ucontext.h>

#include "abi/ticks.h"
#include "vantage/agent/arch.h"
#include "vantage/agent/restart.h"

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

/* 50 us and more on the machines there are: no walk takes that long. */
#define PREEMPTED_TICKS (1U << 18)

struct agent agent;

static struct scratch scratches[AGENT_SCRATCHES];

/* A room for this walk, or NULL when 64 threads are in their handlers at this moment. */
static struct scratch *scratch_take(void)
{
	u64 in_use = __atomic_load_n(&agent.scratches_in_use, __ATOMIC_RELAXED);

	for (;;) {
		u64 free = ~in_use;

		if (free == 0)
			return NULL;
		u64 bit = free & -free;

		/* Pairs with the release in scratch_give(). */
		if (__atomic_compare_exchange_n(&agent.scratches_in_use, &in_use, in_use | bit,
						0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &scratches[__builtin_ctzll(bit)];
	}
}

static void scratch_give(struct scratch *scratch)
{
	u64 bit = 1ULL << (scratch - scratches);

	__atomic_fetch_and(&agent.scratches_in_use, ~bit, __ATOMIC_RELEASE);
}

static void sample(struct ring_header *ring, u32 overruns, const ucontext_t *context)
{
	struct sample_time time = clock_weigh(ring, overruns, ARCH_PC_OF(context));
	struct scratch *scratch = scratch_take();

	if (scratch == NULL || !ring_has_room(ring, RING_WORDS(struct ring_sample))) {
		__atomic_fetch_add(&ring->lost_samples, 1, __ATOMIC_RELAXED);
	} else {
		struct walk walk = { .rules = &scratch->rules,
				     .copies = &scratch->copies,
				     .frames = scratch->frames };

		unwind_walk(context, &walk);
		emit_sample(ring, &walk, &time);
	}
	if (scratch != NULL)
		scratch_give(scratch);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	const bool may_time = __atomic_load_n(&agent.may_read_counter, __ATOMIC_RELAXED);
	const u64 begin = may_time ? ticks_now() : 0;
	/* Pairs with the release in handshake_run(): the ring is whole when it is seen. */
	struct ring_header *ring = __atomic_load_n(&agent.ring, __ATOMIC_ACQUIRE);

	if (ring == NULL)
		return;
	if (info->si_code == TRAP_PERF)
		sample(ring, 0, context);
	else if (info->si_code == SI_TIMER && timers_may_sample(ring))
		sample(ring, (u32)info->si_overrun, context);
	else
		return;
	restart_mend(context);
	__atomic_fetch_add(&ring->handler_samples, 1, __ATOMIC_RELAXED);
	if (!may_time)
		return;
	const u64 ticks = ticks_now() - begin;

	/* One that was preempted says nothing of the cost: the others speak for it. */
	if (ticks > PREEMPTED_TICKS)
		return;
	__atomic_fetch_add(&ring->handler_timed, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ring->handler_ticks, ticks, __ATOMIC_RELAXED);
}

void trap_install(void)
{
	struct sigaction action = {
		.sa_sigaction = on_trap,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};

	sigfillset(&action.sa_mask);
	sigaction(SIGTRAP, &action, NULL);
}
