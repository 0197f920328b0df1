/*
 * budget - limits the SIGTRAP handler to half of a thread's CPU time.
 *
 * A walk may take longer than a period: a stack of a thousand frames that has to be proven page
 * by page, at 20,000 Hz.  The event counts the handler's own time, so the next trap is due
 * when the handler returns, and a program that is sampled so would never execute another
 * instruction.  So each walk has to be earned: it is made when the program has had
 * as much time since the last walks as these took.  A trap that comes too early makes no
 * sample; the next one stands for its time as well.
 *
 * What counts is the thread's CPU time: a handler that was preempted has taken nothing from its
 * program.  To read that costs as much as a walk, so it is done only while walks are slow.
 *
 * The first walks of a thread are slow, while rules are still to be found: a credit, once, allows
 * them.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* Of a thread; times are of its CPU clock, in nanoseconds. */
struct budget {
	u64 last_end; /* when its last handler ended */
	u64 debt;     /* the time of its walks, less the program's time since */
	u64 credited; /* debts that its credit has paid */
	bool is_kept; /* these are kept up to date: its last walk was slow */
};

/* At its handler's beginning: whether the thread has earned a walk, or has credit left. */
static inline bool budget_begin(struct budget *budget, u64 now, u64 credit)
{
	const u64 gone = now - budget->last_end;

	budget->debt = budget->debt > gone ? budget->debt - gone : 0;
	if (budget->credited < credit) {
		budget->credited += budget->debt;
		budget->debt = 0;
	}
	return budget->debt == 0;
}

/* At its handler's end. */
static inline void budget_end(struct budget *budget, u64 begin, u64 now)
{
	budget->debt += now - begin;
	budget->last_end = now;
}

/* Begins to keep the budget, without a debt. */
static inline void budget_open(struct budget *budget, u64 now)
{
	budget->last_end = now;
	budget->debt = 0;
	budget->is_kept = true;
}
