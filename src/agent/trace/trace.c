#include "agent/trace/trace.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "abi/ring.h"
#include "agent/core/agent.h"
#include "agent/core/arch.h"
#include "agent/core/images.h"
#include "agent/interpreters/layouts.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/map.h"
#include "agent/trace/names.h"
#include "agent/trace/native/native.h"
#include "agent/trace/only.h"
#include "agent/trace/python/call_kind.h"
#include "agent/trace/ruby/ruby.h"
#include "agent/trace/ruby/stacks.h"

/* Calls in each other, of one thread: 1.3 MB that cost memory as they are used. */
#define ENTRIES 32768U
/* Of a stack that is not the thread's first: a fiber's of Ruby has room for 3,000 calls. */
#define MORE_ENTRIES 4096U
/* A name with its table of lines has at most 5,000. */
#define NAMES_ROOM_WORDS 16384U

#define PYTHON_3_6  0x03060000U
#define PYTHON_3_12 0x030c0000U

static struct {
	struct ring_header *ring;
	struct trace_area *area;
	u32 next_slot; /* to look at first */
	/* A child of fork has its parent's interpreter, and its hooks, but no ring perhaps. */
	struct python_layout layout;
	bool has_layout;
} trace;

/* A slot's, for one thread after the other. */
static struct tracer tracers[TRACE_THREADS];
__thread struct tracer *trace_own;
/* There was no slot for it. */
static __thread bool is_untraced;
/* Its parent's, in a child of fork until it has its own. */
static const struct tracer *forgotten;

struct trace_area *trace_area_of_process(void)
{
	return __atomic_load_n(&trace.area, __ATOMIC_ACQUIRE);
}

const struct python_layout *trace_layout(void)
{
	return trace.has_layout ? &trace.layout : NULL;
}

void trace_set_status(enum trace_status status)
{
	struct trace_area *area = trace_area_of_process();

	if (area != NULL)
		__atomic_store_n(&area->status, status, __ATOMIC_RELEASE);
}

void trace_set_means(enum trace_means means)
{
	struct trace_area *area = trace_area_of_process();

	if (area != NULL)
		__atomic_store_n(&area->means, means, __ATOMIC_RELEASE);
}

void trace_note_other_tool(void)
{
	struct trace_area *area = trace_area_of_process();

	if (area != NULL)
		__atomic_store_n(&area->other_tools, 1, __ATOMIC_RELAXED);
}

static void begin_python(const struct python_layout *found)
{
	const struct python_layout *layout = &trace.layout;

	trace.layout = *found;
	trace.has_layout = true;
	if (layout->version < PYTHON_3_6)
		trace_set_status(TRACE_UNKNOWN_VERSION);
	else if (layout->version < PYTHON_3_12)
		trace_python_begin(layout);
	else
		trace_monitoring_begin(layout);
}

static void begin_ruby(struct ring_header *ring)
{
	const struct ruby_layout *layout =
		trace_ruby_layout() == NULL ? layouts_ruby_outside(ring) : NULL;

	if (layout != NULL)
		trace_ruby_begin(layout);
}

void trace_begin(struct ring_header *ring)
{
	if (!(agent.terms.flags & RING_TRACE))
		return;
	trace.ring = ring;
	trace.next_slot = 0;
	__atomic_store_n(&trace.area, (void *)((char *)ring + agent.terms.trace_offset),
			 __ATOMIC_RELEASE);
	trace_clock_begin(trace.area);
	trace_only_begin(trace.area);
	trace.area->is_frozen = trace_clock.is_frozen;
	if (trace_clock.is_off)
		trace.area->off_since_ticks = trace_clock_counter();
	trace_native_begin();
	const struct python_layout *python =
		trace.has_layout ? NULL : layouts_python_outside(ring);

	if (python != NULL)
		begin_python(python);
	begin_ruby(ring);
}

/* Ruby's functions are not called before it calls us: it need not be its own image. */
void trace_begin_late(const struct link_map *image)
{
	struct ring_header *ring = trace.ring;

	const struct python_layout *python =
		trace.has_layout ? NULL : layouts_python_outside(ring);

	if (python != NULL && images_at((void *)python->loop[0].start) == image)
		begin_python(python);
	begin_ruby(ring);
}

void trace_forget_python(void)
{
	trace.has_layout = false;
}

/* A slot of the table that no thread has; TRACE_THREADS: there is none. */
static u32 take_slot(struct trace_area *area)
{
	const u32 first = __atomic_fetch_add(&trace.next_slot, 1, __ATOMIC_RELAXED);

	for (u32 i = 0; i < TRACE_THREADS; i++) {
		const u32 slot = (first + i) % TRACE_THREADS;
		u32 state = TRACE_THREAD_FREE;

		/* Pairs with the release in the recorder, who has read what was there. */
		if (__atomic_compare_exchange_n(&area->threads[slot].state, &state,
						TRACE_THREAD_TAKEN, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return slot;
	}
	return TRACE_THREADS;
}

/* Once for each slot. */
static bool has_entries(struct tracer *tracer)
{
	if (tracer->entries != NULL)
		return true;
	tracer->entries = trace_map(ENTRIES * sizeof *tracer->entries);
	tracer->limit = tracer->entries + ENTRIES - 1;
	return tracer->entries != NULL;
}

bool trace_make_stack(const struct tracer *tracer, struct trace_stack *out_stack)
{
	struct trace_entry *entries = trace_map(MORE_ENTRIES * sizeof *entries);

	if (entries == NULL)
		return false;
	out_stack->entries = entries;
	out_stack->limit = entries + MORE_ENTRIES - 1;
	trace_empty_stack(tracer, out_stack);
	return true;
}

static bool begin_tracer(struct tracer *tracer, struct trace_area *area, u32 slot)
{
	tracer->area = area;
	tracer->slot = slot;
	tracer->chunk = 0;
	tracer->busy = 0;
	tracer->unstacked = 0;
	tracer->pace_due = 0;
	tracer->is_off = trace_clock.is_off;
	trace_index_drop(&tracer->index);
	if (!has_entries(tracer))
		return false;
	const u32 root =
		trace_add_child(tracer, TRACE_NO_NODE, TRACE_KIND_OUTSIDE, 0, TRACE_OUTSIDE);

	if (root == TRACE_NO_NODE)
		return false;
	tracer->top = tracer->entries;
	*tracer->top = (struct trace_entry){ .node = root };
	return true;
}

struct tracer *trace_begin_thread(void)
{
	struct trace_area *area = trace_area_of_process();

	if (area == NULL || is_untraced)
		return NULL;
	const u32 slot = trace_map_is_forbidden() ? TRACE_THREADS : take_slot(area);

	if (slot == TRACE_THREADS || !begin_tracer(&tracers[slot], area, slot)) {
		__atomic_fetch_add(&area->untraced_threads, 1, __ATOMIC_RELAXED);
		is_untraced = true;
		return NULL;
	}
	__atomic_fetch_add(&area->threads_taken, 1, __ATOMIC_RELAXED);
	struct tracer *tracer = &tracers[slot];
	struct trace_thread *thread = &area->threads[slot];

	thread->left_out_ticks = 0;
	tracer->last_ticks = trace_now();
	thread->first_ticks = trace_clock_counter();
	/* Pairs with the acquire in the recorder: its first time is there when it is seen. */
	__atomic_store_n(&thread->tid, (u32)arch_syscall4(SYS_gettid, 0, 0, 0, 0),
			 __ATOMIC_RELEASE);
	trace_own = tracer;
	return tracer;
}

void trace_skip(struct tracer *tracer)
{
	tracer->last_ticks = trace_now();
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
	aside->tracer.area = area;
	if (!begin_tracer(&aside->tracer, aside->tracer.area, 0)) {
		trace_end_aside(aside);
		return false;
	}
	aside->tracer.pace_due = ~0ULL;
	aside->tracer.last_ticks = trace_now();
	trace_own = &aside->tracer;
	return true;
}

void trace_end_aside(struct trace_aside *aside)
{
	trace_unmap(aside->tracer.area, sizeof *aside->tracer.area);
	trace_index_drop(&aside->tracer.index);
	aside->tracer.area = NULL;
	trace_own = aside->own;
	if (trace_own != NULL)
		trace_leave_out_of_calls(trace_own, trace_leave_out(trace_own));
	if (aside->was_off)
		trace_clock_stop();
}

u64 trace_name_of(const struct trace_call *call)
{
	return trace_name(trace.ring, call);
}

bool trace_names_have_room(void)
{
	return ring_has_room(trace.ring, agent.terms.word_count, NAMES_ROOM_WORDS);
}

/* By what each function was executed: its entry says it from then on, as its node is gone. */
static void keep_ways(struct tracer *tracer)
{
	for (struct trace_entry *entry = tracer->entries + 1; entry <= tracer->top; entry++) {
		const struct trace_node *node = trace_node_at(tracer, entry->node);

		/* Another's node, where there was no room. */
		if (trace_call_kind_is_python(node->kind) && node->parent == entry[-1].node)
			entry->kind = node->kind;
	}
}

/* Only the calling thread is in a child of fork; its stack is there, for it is our own memory. */
void trace_forget(void)
{
	trace_native_end();
	/* Until the child has an area, hooks in handlers must not find its parent's nodes. */
	forgotten = trace_own;
	if (trace_own != NULL)
		keep_ways(trace_own);
	trace_own = NULL;
	__atomic_store_n(&trace.area, NULL, __ATOMIC_RELEASE);
	trace_clock_forget();
}

void trace_abandon(void)
{
	if (trace_area_of_process() == NULL)
		return;
	trace_forget();
	trace_ruby_context = 0;
	trace_native_forget();
}

void trace_forbid_threads(void)
{
	trace_map_forbid();
}

void trace_forbid_counter(void)
{
	struct trace_area *area = trace_area_of_process();

	trace_clock_freeze();
	if (area != NULL)
		__atomic_store_n(&area->is_frozen, 1, __ATOMIC_RELAXED);
}

/* For tracers that begin meanwhile, the clock says it. */
static void tell_tracers(u32 is_off)
{
	for (u32 i = 0; i < TRACE_THREADS; i++) {
		if (tracers[i].area != NULL)
			__atomic_store_n(&tracers[i].is_off, is_off, __ATOMIC_RELAXED);
	}
}

void trace_switch_off(void)
{
	struct trace_area *area = trace_area_of_process();
	const u64 now = trace_clock_counter();

	if (trace_clock.is_off)
		return;
	trace_clock_stop();
	tell_tracers(1);
	if (area != NULL)
		__atomic_store_n(&area->off_since_ticks, now, __ATOMIC_RELAXED);
}

void trace_switch_on(void)
{
	struct trace_area *area = trace_area_of_process();
	const u64 now = trace_clock_counter();

	if (!trace_clock.is_off)
		return;
	trace_clock_go_on();
	tell_tracers(0);
	if (area == NULL)
		return;
	area->off_ticks += now - area->off_since_ticks;
	__atomic_store_n(&area->off_since_ticks, 0, __ATOMIC_RELAXED);
}

void trace_adopt(void)
{
	const struct tracer *before = forgotten;
	const struct tracer old = before != NULL ? *before : (struct tracer){ 0 };

	trace_own = NULL;
	is_untraced = false;
	trace_ruby_context = 0;
	trace_native_forget();
	trace_tell_costs();
	if (before == NULL || trace_area_of_process() == NULL)
		return;
	/* Another slot than before: its entries are read while these are made. */
	trace.next_slot = old.slot + 1;
	struct tracer *tracer = trace_begin_thread();

	if (tracer != NULL && tracer != before)
		trace_stand_again(tracer, old.entries + 1, (u32)(old.top - old.entries));
	if (tracer != NULL)
		trace_set_status(TRACE_ON);
}
