#include "agent/trace/calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "agent/core/arch.h"
#include "agent/trace/area.h"
#include "agent/trace/clock.h"
#include "agent/trace/map.h"

/* Calls in each other, of one thread: 1.3 MB that cost memory as they are used. */
#define ENTRIES 32768U
/* Of a stack that is not the thread's first: a fiber's of Ruby has room for 3,000 calls. */
#define MORE_ENTRIES 4096U

__thread struct call_stack *trace_own;
/* There was no slot for it. */
static __thread bool is_untraced;
static struct {
	struct call_stack stacks[TRACE_THREADS]; /* a slot's, for one thread after the other */
	/* Its parent's, in a child of fork until it has its own. */
	const struct call_stack *forgotten;
	u32 next_slot; /* the one to look at first */
} slots;

/* A slot of the table that no thread has; TRACE_THREADS: there is none. */
static u32 take_slot(struct trace_area *area)
{
	const u32 first = __atomic_fetch_add(&slots.next_slot, 1, __ATOMIC_RELAXED);

	for (u32 i = 0; i < TRACE_THREADS; i++) {
		const u32 slot = (first + i) % TRACE_THREADS;
		u32 state = TRACE_THREAD_FREE;

		/* Pairs with the release in the recorder, which has read what was there. */
		if (__atomic_compare_exchange_n(&area->threads[slot].state, &state,
						TRACE_THREAD_TAKEN, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return slot;
	}
	return TRACE_THREADS;
}

/* Once for each slot. */
static bool has_entries(struct call_stack *calls)
{
	if (calls->entries != NULL)
		return true;
	calls->entries = trace_map(ENTRIES * sizeof *calls->entries);
	calls->limit = calls->entries + ENTRIES - 1;
	return calls->entries != NULL;
}

bool trace_make_stack(const struct call_stack *calls, struct trace_stack *out_stack)
{
	struct trace_entry *entries = trace_map(MORE_ENTRIES * sizeof *entries);

	if (entries == NULL)
		return false;
	out_stack->entries = entries;
	out_stack->limit = entries + MORE_ENTRIES - 1;
	trace_empty_stack(calls, out_stack);
	return true;
}

static bool begin_calls(struct call_stack *calls, struct trace_area *area, u32 slot)
{
	calls->area = area;
	calls->slot = slot;
	calls->chunk = 0;
	calls->busy = 0;
	calls->unstacked = 0;
	calls->speed_due = 0;
	calls->is_off = trace_clock.is_off;
	calls->is_throttled = 0;
	trace_index_drop(&calls->index);
	if (!has_entries(calls))
		return false;
	const u32 root =
		trace_add_child(calls, TRACE_NO_NODE, TRACE_KIND_OUTSIDE, 0, TRACE_OUTSIDE);

	if (root == TRACE_NO_NODE)
		return false;
	calls->top = calls->entries;
	*calls->top = (struct trace_entry){ .node = root };
	return true;
}

struct call_stack *trace_begin_thread(void)
{
	struct trace_area *area = trace_area_of_process();

	if (area == NULL || is_untraced)
		return NULL;
	const u32 slot = trace_map_is_forbidden() ? TRACE_THREADS : take_slot(area);

	if (slot == TRACE_THREADS || !begin_calls(&slots.stacks[slot], area, slot)) {
		__atomic_fetch_add(&area->untraced_threads, 1, __ATOMIC_RELAXED);
		is_untraced = true;
		return NULL;
	}
	__atomic_fetch_add(&area->threads_taken, 1, __ATOMIC_RELAXED);
	struct call_stack *calls = &slots.stacks[slot];
	struct trace_thread *thread = &area->threads[slot];

	thread->left_out_ticks = 0;
	calls->last_ticks = trace_now();
	thread->first_ticks = trace_clock_counter();
	/* Pairs with the acquire in the recorder: its first time is there when it is seen. */
	__atomic_store_n(&thread->tid, (u32)arch_syscall4(SYS_gettid, 0, 0, 0, 0),
			 __ATOMIC_RELEASE);
	trace_own = calls;
	return calls;
}

void trace_skip(struct call_stack *calls)
{
	calls->last_ticks = trace_now();
}

bool trace_begin_aside(struct trace_aside *aside)
{
	struct trace_area *area = trace_map(sizeof *area);

	if (area == NULL)
		return false;
	/* A program that is to begin paused: the clock would stand still. */
	aside->was_off = trace_clock.is_off;
	if (aside->was_off)
		trace_clock_go_on();
	aside->own = trace_own;
	aside->calls.area = area;
	if (!begin_calls(&aside->calls, aside->calls.area, 0)) {
		trace_end_aside(aside);
		return false;
	}
	aside->calls.speed_due = ~0ULL;
	aside->calls.last_ticks = trace_now();
	trace_own = &aside->calls;
	return true;
}

void trace_end_aside(struct trace_aside *aside)
{
	trace_unmap(aside->calls.area, sizeof *aside->calls.area);
	trace_index_drop(&aside->calls.index);
	aside->calls.area = NULL;
	trace_own = aside->own;
	if (trace_own != NULL)
		trace_leave_out_of_calls(trace_own, trace_leave_out(trace_own));
	if (aside->was_off)
		trace_clock_stop();
}

/* By what each function was executed: its entry says it from then on, as its node is gone. */
static void keep_kinds(struct call_stack *calls)
{
	for (struct trace_entry *entry = calls->entries + 1; entry <= calls->top; entry++) {
		const struct trace_node *node = trace_node_at(calls, entry->node);

		/* Another's node, where there was no room. */
		if (trace_call_kind_is_python(node->kind) && node->parent == entry[-1].node)
			entry->kind = node->kind;
	}
}

void trace_calls_begin(void)
{
	slots.next_slot = 0;
}

void trace_calls_forget(void)
{
	slots.forgotten = trace_own;
	if (trace_own != NULL)
		keep_kinds(trace_own);
	trace_own = NULL;
}

bool trace_calls_adopt(void)
{
	const struct call_stack *before = slots.forgotten;
	const struct call_stack old = before != NULL ? *before : (struct call_stack){ 0 };

	trace_own = NULL;
	is_untraced = false;
	if (before == NULL || trace_area_of_process() == NULL)
		return false;
	/* Another slot than before: its entries are read while these are made. */
	slots.next_slot = old.slot + 1;
	struct call_stack *calls = trace_begin_thread();

	if (calls != NULL && calls != before)
		trace_stand_again(calls, old.entries + 1, (u32)(old.top - old.entries));
	return calls != NULL;
}

/* For those that begin meanwhile, the clock says it. */
void trace_calls_set_off(u32 is_off)
{
	for (u32 i = 0; i < TRACE_THREADS; i++) {
		if (slots.stacks[i].area != NULL)
			__atomic_store_n(&slots.stacks[i].is_off, is_off, __ATOMIC_RELAXED);
	}
}
