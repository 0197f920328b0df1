/*
 * trace_regions - regions (regions.h) among traced calls: each is a call of what it is named.
 *
 * What begins a region is called by the function that the region is in, and is being executed
 * itself: so the region is put below it.  What ends one may be called within another that began
 * later (two coroutines' overlap): so it is taken out from among the calls, and no other ends
 * with it.  A function that is left ends the regions that were begun in it.
 */
#include "vantage/agent/agent.h"
#include "vantage/agent/trace.h"

/* A C function, and who called it. */
#define MOST_ABOVE 2U

u64 trace_region_identity(u64 name)
{
	return ((const struct region_name *)name)->key;
}

/* How many of the innermost calls are those that asked for it. */
static u32 count_above(const struct tracer *tracer, u64 code)
{
	const struct trace_entry *entry = tracer->top;
	u32 count = 0;

	if (entry > tracer->entries && entry->kind == TRACE_KIND_PYTHON_BUILTIN) {
		entry--;
		count++;
	}
	if (code != 0 && entry > tracer->entries && entry->kind == TRACE_KIND_PYTHON &&
	    entry->object == code)
		count++;
	return count;
}

void trace_region_begin(const struct region *region, u64 code)
{
	struct tracer *tracer = trace_area_of_process() != NULL ? trace_of_thread() : NULL;
	struct trace_entry above[MOST_ABOVE];

	if (tracer == NULL || tracer->unstacked > 0)
		return;
	const u64 now = trace_now();
	const u32 count = count_above(tracer, code);
	const struct trace_call call = { .identity = region->name->key,
					 .object = region->serial,
					 .named = (u64)region->name,
					 .kind = TRACE_KIND_REGION };

	trace_set_status(TRACE_ON);
	trace_advance(tracer, now);
	for (u32 i = 0; i < count; i++)
		above[i] = *tracer->top--;
	trace_enter(tracer, call, now);
	for (u32 i = count; i > 0; i--) {
		if (tracer->top == tracer->limit)
			tracer->unstacked++;
		else
			*++tracer->top = above[i - 1];
	}
}

void trace_region_end(u64 serial)
{
	struct tracer *tracer = trace_area_of_process() != NULL ? trace_own : NULL;

	if (tracer == NULL || serial == 0)
		return;
	const struct trace_entry *const top = tracer->top;
	struct trace_entry *entry = tracer->top;
	const u64 now = trace_now();

	while (entry > tracer->entries &&
	       (entry->kind != TRACE_KIND_REGION || entry->object != serial))
		entry--;
	if (entry == tracer->entries)
		return;
	trace_advance(tracer, now);
	tracer->top = entry;
	trace_pop(tracer, now);
	while (entry < top) {
		*entry = entry[1];
		entry++;
	}
	tracer->top = entry - 1;
}
