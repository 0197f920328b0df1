#include "agent/interpreters/ruby/collector.h"

#include <errno.h>
#include <stdatomic.h>

#include "abi/ring.h"
#include "abi/ticks.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/arch.h"
#include "agent/core/memory.h"
#include "agent/core/thread_notes.h"
#include "agent/core/walk.h"
#include "agent/interpreters/layouts.h"
#include "agent/interpreters/ruby/frames.h"
#include "agent/interpreters/ruby/scratch.h"
#include "agent/interpreters/ruby/state.h"

/* include/ruby/internal/event.h, of every version. */
#define EVENT_GC_ENTER 0x2000000U
#define EVENT_GC_EXIT  0x4000000U

/* Reading takes at most this part of the time, beyond a first credit of so many ticks. */
#define BUDGET_PART   32
#define BUDGET_CREDIT (1LL << 25)
/* A reading that took longer was preempted: only so much is counted. */
#define TICKS_OF_READING 65536
#define TICKS_OF_A_FRAME 1024

/* Written by the collecting thread, read in its handlers: `thread` set last, cleared first. */
static struct {
	bool is_installed;
	u64 thread; /* the thread pointer of the one that collects; 0: none */
	bool is_whole;
	u64 epoch;
	u64 context, frame; /* the stack's context, and its innermost control frame */
	u64 ticks;          /* when the budget was looked at last */
	s64 ticks_left;
	struct ruby_scratch scratch;
	struct memory_copies copies;
	u64 no_frames[1];
} collector;

bool ruby_collector_is_installed(void)
{
	return __atomic_load_n(&collector.is_installed, __ATOMIC_RELAXED);
}

bool ruby_collector_is_here(void)
{
	return __atomic_load_n(&collector.thread, __ATOMIC_RELAXED) == arch_thread_pointer();
}

struct ruby_frames *ruby_collector_frames(u64 context, u64 frame, u64 epoch)
{
	if (!collector.is_whole || collector.context != context || collector.frame != frame ||
	    collector.epoch != epoch)
		return NULL;
	return &collector.scratch.frames;
}

static bool budget_has_some(u64 now)
{
	const u64 since = now - collector.ticks;
	const s64 earned = (s64)(since / BUDGET_PART);

	collector.ticks_left += earned;
	if (collector.ticks == 0 || collector.ticks_left > BUDGET_CREDIT)
		collector.ticks_left = BUDGET_CREDIT;
	collector.ticks = now;
	return collector.ticks_left > 0;
}

static void budget_spend(u64 ticks)
{
	const u64 most =
		TICKS_OF_READING + (u64)collector.scratch.frames.stack.count * TICKS_OF_A_FRAME;

	collector.ticks_left -= (s64)(ticks < most ? ticks : most);
}

/* Reads the thread's Ruby frames, and names what the innermost may be doing. */
static void read_frames(struct mem *mem, struct ring_header *ring)
{
	struct ruby_scratch *scratch = &collector.scratch;
	struct walk walk = {
		.ring = ring,
		.epoch = __atomic_load_n(&ring->epoch, __ATOMIC_RELAXED),
		.copies = &collector.copies,
		.ruby = scratch,
		.frames = collector.no_frames,
	};

	if (!ruby_frames_read(&walk, mem, RUBY_TOP_IN_HOOK))
		return;
	ruby_frames_name_top(&walk, mem);
	collector.context = scratch->context;
	collector.frame = scratch->frames.innermost;
	collector.epoch = walk.epoch;
	collector.is_whole = !walk.is_lost;
}

static bool find_stack(struct mem *mem, struct ruby_scratch *scratch, struct ring_header *ring)
{
	scratch->layout = ring != NULL ? layouts_ruby(ring) : NULL;
	if (scratch->layout == NULL)
		return false;
	scratch->context = ruby_find_context(mem, scratch->layout);
	if (scratch->context == 0)
		return false;
	scratch->objspace_flags = ruby_objspace_flags(mem, scratch->layout, scratch->context);
	return true;
}

static void begin_step(void)
{
	struct ring_header *ring = __atomic_load_n(&own_ring.header, __ATOMIC_ACQUIRE);
	const bool may_time = __atomic_load_n(&permits.may_read_counter, __ATOMIC_RELAXED);
	const u64 begin = may_time ? ticks_now() : 0;
	struct mem mem;

	collector.thread = 0;
	atomic_signal_fence(memory_order_seq_cst);
	collector.is_whole = false;
	memory_begin_own(&mem, &collector.copies);
	if (find_stack(&mem, &collector.scratch, ring) &&
	    (!may_time || budget_has_some(begin))) {
		read_frames(&mem, ring);
		if (may_time)
			budget_spend(ticks_now() - begin);
	}
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(&collector.thread, arch_thread_pointer(), __ATOMIC_RELAXED);
}

/* 2.7 moves objects after the collection's last event: the step does not end for us then. */
static void end_step(void)
{
	struct ring_header *ring = __atomic_load_n(&own_ring.header, __ATOMIC_ACQUIRE);
	const struct ruby_layout *layout = ring != NULL ? layouts_ruby(ring) : NULL;
	struct mem mem;

	if (layout != NULL && collector.is_whole) {
		memory_begin_own(&mem, &collector.copies);
		if (ruby_is_compacting(layout,
				       ruby_objspace_flags(&mem, layout, collector.context)))
			return;
	}
	__atomic_store_n(&collector.thread, 0, __ATOMIC_RELAXED);
}

/* rb_event_hook_func_t */
static void on_event(u32 event, u64 data, u64 self, u64 method, u64 class)
{
	const int saved_errno = errno;

	(void)data;
	(void)self;
	(void)method;
	(void)class;
	thread_notes.is_in_agent = true;
	if (event & EVENT_GC_ENTER)
		begin_step();
	else
		end_step();
	thread_notes.is_in_agent = false;
	errno = saved_errno;
}

/* The address of the object space's flags; NULL: no such flag, or it cannot be read. */
static u32 *flags_of_hooks(const struct ruby_layout *layout)
{
	struct mem mem;
	u32 flags;

	if (ruby_has_hook_flag(layout) == 0)
		return NULL;
	memory_begin_own(&mem, &collector.copies);
	const u64 at = ruby_objspace_flags_at(&mem, layout, ruby_find_context(&mem, layout));

	return at != 0 && mem_read(&mem, &flags, sizeof flags, at) >= 0 ? (u32 *)at : NULL;
}

/*
 * Up to 3.2 objects are allocated more slowly while there is a hook for any internal event:
 * newobj_of() tests objspace->flags.has_hook (gc.c), and a program that makes many takes a tenth
 * longer.  Ruby keeps elsewhere which events have hooks, so if our hook has set the flag, it is
 * cleared again; 3.3 has a flag for hooks of new objects only.  When another hook is added or
 * removed, Ruby sets the flag anew.
 */
static void add_hook(void (*add)(void (*)(u32, u64, u64, u64, u64), u32, u64),
		     const struct ruby_layout *layout)
{
	const u32 has_hook = ruby_has_hook_flag(layout);
	u32 *const flags = flags_of_hooks(layout);
	const bool is_first = flags != NULL && !(*flags & has_hook);

	add(on_event, EVENT_GC_ENTER | EVENT_GC_EXIT, layout->nil);
	/* Atomically: sweeping Ractors change flags of this word without the GVL. */
	if (is_first)
		__atomic_fetch_and(flags, ~has_hook, __ATOMIC_RELAXED);
}

void ruby_collector_install(const struct ruby_layout *layout)
{
	void (*const add)(void (*)(u32, u64, u64, u64, u64), u32, u64) = (void (*)(
		void (*)(u32, u64, u64, u64, u64), u32, u64))layout->functions.add_event_hook;

	if (add == NULL || ruby_collector_is_installed())
		return;
	add_hook(add, layout);
	__atomic_store_n(&collector.is_installed, true, __ATOMIC_RELAXED);
}
