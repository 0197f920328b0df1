/*
 * regions - puts the program's named regions (core/regions.h) among the traced calls.
 *
 * A region is begun by a call of a C or Python function, which the region's function makes and
 * which is still running: so the region is inserted below that call.  A region may be
 * ended within another that began later (two coroutines' regions overlap): so it is removed from
 * among the calls, and none inside it ends.  A region whose function is left without ending it
 * waits: until the generator is resumed, or the function's caller calls another function.
 */
#include "agent/control/control.h"
#include "agent/core/regions.h"
#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/regions.h"

/* Each asking function, and a C function between any two. */
#define MOST_ABOVE (2 * REGION_ASKING)

u64 trace_region_identity(u64 name)
{
	return ((const struct region_name *)name)->key;
}

static bool is_asking(const struct region_asking *asking, const struct trace_entry *entry)
{
	for (u32 i = 0; asking != NULL && i < asking->count; i++) {
		if (entry->kind == TRACE_KIND_PYTHON && entry->object == asking->codes[i])
			return true;
	}
	return false;
}

static bool is_builtin(const struct trace_entry *entry)
{
	return entry->kind == TRACE_KIND_PYTHON_BUILTIN ||
	       entry->kind == TRACE_KIND_RUBY_BUILTIN;
}

/* Counts the innermost calls of the request, up to the outermost asking function. */
static u32 count_above(const struct call_stack *calls, const struct region_asking *asking)
{
	u32 count = 0;

	for (u32 i = 0; i < MOST_ABOVE && calls->top - i > calls->entries; i++) {
		const struct trace_entry *entry = calls->top - i;

		if (is_asking(asking, entry) || (i == 0 && is_builtin(entry)))
			count = i + 1;
		else if (!is_builtin(entry))
			break;
	}
	return count;
}

/* Enters a call below the `count` innermost ones. */
static void enter_below(struct call_stack *calls, u32 count, const struct trace_call *call,
			u64 now)
{
	struct trace_entry above[MOST_ABOVE];

	for (u32 i = 0; i < count; i++)
		above[i] = *calls->top--;
	trace_enter(calls, *call, now);
	for (u32 i = count; i > 0; i--) {
		if (calls->top == calls->limit)
			calls->unstacked++;
		else
			*++calls->top = above[i - 1];
	}
}

static struct trace_call call_of(const struct region *region)
{
	return (struct trace_call){ .identity = region->name->key,
				    .object = region->serial,
				    .named = (u64)region->name,
				    .kind = TRACE_KIND_REGION };
}

void trace_region_begin(const struct region *region, const struct region_asking *asking)
{
	struct call_stack *calls = trace_area_of_process() != NULL ? trace_of_thread() : NULL;

	if (calls == NULL || calls->unstacked > 0)
		return;
	const struct trace_call call = call_of(region);
	const u64 now = trace_now();

	trace_set_status(TRACE_ON);
	trace_advance(calls, now);
	enter_below(calls, count_above(calls, asking), &call, now);
}

/* The entry of a region, or the root's if it has none. */
static struct trace_entry *find_entry(const struct call_stack *calls, u64 serial)
{
	struct trace_entry *entry = calls->top;

	while (entry > calls->entries &&
	       (entry->kind != TRACE_KIND_REGION || entry->object != serial))
		entry--;
	return entry;
}

/* The call that has just begun and its caller, before regions were inserted among them. */
struct begun {
	struct trace_entry called, caller;
	bool has_asked;
};

/* Events may come without a frame: then ask the interpreter.  A C function has no frame. */
static void ask_for_frames(struct begun *begun)
{
	u64 innermost[2] = { 0 };
	const bool is_of_python = begun->called.kind == TRACE_KIND_PYTHON;

	/* Compiled code may be called without the GIL (ctypes): then there is no frame to ask for. */
	if (begun->has_asked ||
	    (!is_of_python && begun->called.kind != TRACE_KIND_PYTHON_BUILTIN))
		return;
	begun->has_asked = true;
	control_python_frames(innermost);
	if (begun->called.frame == 0 && is_of_python)
		begun->called.frame = innermost[0];
	if (begun->caller.frame == 0)
		begun->caller.frame = innermost[is_of_python];
}

static u64 frame_of(struct begun *begun, const struct trace_entry *entry)
{
	if (entry->frame == 0)
		ask_for_frames(begun);
	return entry->frame;
}

/* Whether the call resumes the generator that has the region, which goes on inside it. */
static bool returns_to(const struct region_place *place, struct begun *begun)
{
	return begun->called.kind == TRACE_KIND_PYTHON &&
	       place->frames[0].code == begun->called.object &&
	       place->frames[0].frame == frame_of(begun, &begun->called);
}

/*
 * Whether a function that began the region has returned to the caller of this call: the region
 * goes on there.  Compares frames: another call of the same code may be another greenlet's, while
 * the one with the region waits.
 */
static bool is_left_to(const struct region_place *place, struct begun *begun)
{
	for (u32 i = 1; i < place->count; i++) {
		if (begun->caller.kind == TRACE_KIND_PYTHON &&
		    place->frames[i].code == begun->caller.object &&
		    place->frames[i].frame == frame_of(begun, &begun->caller))
			return true;
	}
	return false;
}

/* Puts a region around the innermost call, which has begun outside of it: moves the call. */
static void put_around(struct call_stack *calls, const struct trace_call *region)
{
	const struct trace_entry called = *calls->top;
	struct trace_node *node = trace_node_at(calls, called.node);
	const u64 now = called.start_ticks;

	/* A call that was merged with another, or found no node, stays where it is. */
	if (node->parent != calls->top[-1].node)
		return;
	node->calls -= calls->is_off ^ 1;
	calls->has_waiting = false; /* or we would be called again */
	calls->top--;
	trace_stand(calls, region);
	trace_enter(calls,
		    (struct trace_call){ .identity = node->identity,
					 .object = called.object,
					 .named = called.named,
					 .frame = called.frame,
					 .kind = (enum trace_kind)called.kind },
		    now);
	calls->has_waiting = true;
}

void trace_region_return(struct call_stack *calls)
{
	struct begun begun = { .called = calls->top[0], .caller = calls->top[-1] };
	const struct regions *own = regions_own;

	if (own == NULL)
		calls->has_waiting = false;
	for (u32 i = 0; own != NULL && i < own->count && i < REGIONS_OPEN; i++) {
		const struct region *region = &own->open[i];
		const struct trace_call call = call_of(region);

		if (region->serial == 0 || region->place.anchor != REGION_PYTHON)
			continue;
		if (returns_to(&region->place, &begun))
			trace_stand(calls, &call);
		else if (is_left_to(&region->place, &begun) &&
			 find_entry(calls, region->serial) == calls->entries)
			put_around(calls, &call);
	}
}

void trace_region_end(u64 serial)
{
	struct call_stack *calls = trace_area_of_process() != NULL ? trace_own : NULL;

	if (calls == NULL || serial == 0)
		return;
	struct trace_entry *entry = find_entry(calls, serial);
	const struct trace_entry *const top = calls->top;
	const u64 now = trace_now();

	if (entry == calls->entries)
		return;
	trace_advance(calls, now);
	calls->top = entry;
	trace_pop(calls, now);
	while (entry < top) {
		*entry = entry[1];
		entry++;
	}
	calls->top = entry - 1;
}
