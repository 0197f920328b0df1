#include "agent/trace/trace.h"

#include <stddef.h>

#include "abi/python_layout.h"
#include "abi/ring.h"
#include "agent/core/own_ring.h"
#include "agent/core/images.h"
#include "agent/interpreters/layouts.h"
#include "agent/trace/area.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/native/native.h"
#include "agent/trace/only.h"
#include "agent/trace/python/begin.h"
#include "agent/trace/ruby/ruby.h"

/* The CPython to trace; NULL: none, or it is traced already. */
static const struct python_layout *find_python(struct ring_header *ring)
{
	return trace_layout() != NULL ? NULL : layouts_python_outside(ring);
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
	if (!(own_ring.terms.flags & RING_TRACE))
		return;
	trace_calls_begin();
	struct trace_area *area = trace_area_begin(ring);

	trace_clock_begin(area);
	trace_only_begin(area);
	area->is_frozen = trace_clock.is_frozen;
	if (trace_clock.is_off)
		area->off_since_ticks = trace_clock_counter();
	trace_native_begin();
	const struct python_layout *python = find_python(ring);

	if (python != NULL)
		trace_python_begin(python);
	begin_ruby(ring);
}

/* Ruby is traced from its own calls of us on, so `image` need not be Ruby's. */
void trace_begin_dlopened(const struct link_map *image)
{
	struct ring_header *ring = trace_area_ring();
	const struct python_layout *python = find_python(ring);

	if (python != NULL && images_at((void *)python->loop[0].start) == image)
		trace_python_begin(python);
	begin_ruby(ring);
}

/* A child of fork has only the calling thread, whose call stack is in our own memory. */
void trace_forget(void)
{
	trace_native_end();
	/* Until the child has an area, hooks in handlers must not find the parent's nodes. */
	trace_calls_forget();
	trace_area_forget();
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

void trace_forbid_counter(void)
{
	struct trace_area *area = trace_area_of_process();

	trace_clock_freeze();
	if (area != NULL)
		__atomic_store_n(&area->is_frozen, 1, __ATOMIC_RELAXED);
}

void trace_pause(bool is_paused)
{
	struct trace_area *area = trace_area_of_process();
	const u64 now = trace_clock_counter();

	if (trace_clock.is_off == is_paused)
		return;
	if (is_paused)
		trace_clock_stop();
	else
		trace_clock_go_on();
	trace_calls_set_off(is_paused);
	if (area == NULL)
		return;
	if (!is_paused)
		area->off_ticks += now - area->off_since_ticks;
	__atomic_store_n(&area->off_since_ticks, is_paused ? now : 0, __ATOMIC_RELAXED);
}

void trace_adopt(void)
{
	trace_ruby_context = 0;
	trace_native_forget();
	trace_report_costs();
	if (trace_calls_adopt())
		trace_set_status(TRACE_ON);
}
