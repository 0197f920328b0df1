#include "agent/trace/area.h"

#include "abi/python_layout.h"
#include "abi/ring.h"
#include "agent/core/own_ring.h"

static struct {
	struct ring_header *ring;
	struct trace_area *area;
	/* Kept apart: a child of fork inherits interpreter and hooks, but may have no ring. */
	struct python_layout layout;
	bool has_layout;
} shared;

struct trace_wishes trace_wishes;

struct trace_area *trace_area_begin(struct ring_header *ring)
{
	struct trace_area *area = (void *)((char *)ring + own_ring.terms.trace_offset);
	const u64 flags = own_ring.terms.flags;

	trace_wishes = (struct trace_wishes){ .has_builtins = !(flags & RING_NO_BUILTINS),
					      .has_blocks = (flags & RING_BLOCKS) != 0 };
	shared.ring = ring;
	__atomic_store_n(&shared.area, area, __ATOMIC_RELEASE);
	return area;
}

void trace_area_forget(void)
{
	__atomic_store_n(&shared.area, NULL, __ATOMIC_RELEASE);
}

struct trace_area *trace_area_of_process(void)
{
	return __atomic_load_n(&shared.area, __ATOMIC_ACQUIRE);
}

struct ring_header *trace_area_ring(void)
{
	return shared.ring;
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

void trace_set_layout(const struct python_layout *layout)
{
	if (layout != NULL)
		shared.layout = *layout;
	shared.has_layout = layout != NULL;
}

const struct python_layout *trace_layout(void)
{
	return shared.has_layout ? &shared.layout : NULL;
}

u64 trace_own_state(void)
{
	void *(*const get)(void) =
		shared.has_layout ? (void *(*)(void))shared.layout.state_function : NULL;

	return get != NULL ? (u64)get() : 0;
}
