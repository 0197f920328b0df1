#include "agent/trace/calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "agent/core/arch.h"
#include "agent/trace/area.h"
#include "agent/trace/clock.h"
#include "agent/trace/map.h"

/* Nested calls of one thread: 1.3 MB of address space; pages cost memory once used. */
#define ENTRIES 32768U
/* For a thread's further stacks: a Ruby fiber's has room for 3,000 calls. */
#define MORE_ENTRIES 4096U

__thread struct call_stack *trace_own;
/* No slot was free for this thread. */
static __thread bool is_untraced;
static struct {
	struct call_stack stacks[TRACE_THREADS]; /* by slot; one thread after another */
	/* In a child of fork, until it has its own: the calls it inherited. */
	const struct call_stack *forgotten;
	u32 next_slot; /* where the search for a free slot begins */
} slots;

/* Takes a free slot of the area; TRACE_THREADS: there is none. */
static u32 take_slot(struct trace_area *area)
{
	const u32 first = __atomic_fetch_add(&slots.next_slot, 1, __ATOMIC_RELAXED);

	for (u32 i = 0; i < TRACE_THREADS; i++) {
		const u32 slot = (first + i) % TRACE_THREADS;
		u32 state = TRACE_THREAD_FREE;

		/* Pairs with the recorder's release when it has read the slot. */
		if (__atomic_compare_exchange_n(&area->threads[slot].state, &state,
						TRACE_THREAD_TAKEN, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return slot;
	}
	return TRACE_THREADS;
}

/* Maps a slot's entries when it is first used; they are kept. */
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
	/* Pairs with the acquire in the recorder: first_ticks is set when tid is seen. */
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
	/* In a program started paused the clock would stand still. */
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

/* Copies the exact kinds of Python calls from nodes to entries: the nodes are the parent's. */
static void keep_kinds(struct call_stack *calls)
{
	for (struct trace_entry *entry = calls->entries + 1; entry <= calls->top; entry++) {
		const struct trace_node *node = trace_node_at(calls, entry->node);

		/* If the table was full, the entry has another call's node. */
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
	/* Another slot: the old slot's entries are read while the new ones are made. */
	slots.next_slot = old.slot + 1;
	struct call_stack *calls = trace_begin_thread();

	if (calls != NULL && calls != before)
		trace_stand_again(calls, old.entries + 1, (u32)(old.top - old.entries));
	return calls != NULL;
}

/* Threads that begin meanwhile take the state from trace_clock. */
void trace_calls_set_off(u32 is_off)
{
	for (u32 i = 0; i < TRACE_THREADS; i++) {
		if (slots.stacks[i].area != NULL)
			__atomic_store_n(&slots.stacks[i].is_off, is_off, __ATOMIC_RELAXED);
	}
}
