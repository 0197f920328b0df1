#include "remote/regions.h"

#include <stddef.h>
#include <string.h>

#include "abi/walk_status.h"
#include "remote/memory.h"
#include "remote/process.h"
#include "remote/stack.h"
#include "walk/regions.h"

/* Reads the regions that the thread has open, outermost first; returns how many. */
static uint32_t read_open(struct remote *remote, uint64_t area, pid_t inner_tid,
			  struct region out_open[REGIONS_OPEN])
{
	u32 owners[REGIONS_SLOTS], count = 0, slot = 0;

	if (mem_read(&remote->mem, owners, sizeof owners, area) < 0)
		return 0;
	while (slot < REGIONS_SLOTS && owners[slot] != (u32)inner_tid)
		slot++;
	if (slot == REGIONS_SLOTS)
		return 0;
	const uint64_t at =
		area + offsetof(struct regions_area, slots) + slot * sizeof(struct regions);

	if (mem_read(&remote->mem, &count, sizeof count, at) < 0)
		return 0;
	if (count > REGIONS_OPEN)
		count = REGIONS_OPEN;
	if (mem_read(&remote->mem, out_open, count * sizeof *out_open,
		     at + offsetof(struct regions, open)) < 0)
		return 0;
	return count;
}

static bool make_frame(struct remote *remote, const struct region *region,
		       struct stack_frame *out_frame)
{
	struct name_text text;
	const uint64_t at = (uint64_t)(uintptr_t)region->name;

	if (mem_read(&remote->mem, &text, sizeof text,
		     at + offsetof(struct region_name, text)) < 0 ||
	    text.length == 0 || text.length > NAME_TEXT_MAX)
		return false;
	*out_frame = (struct stack_frame){ .kind = STACK_REGION,
					   .name = remote_keep_name(remote, &text) };
	return true;
}

/* Whether the address is within the stack memory of native frame i. */
static bool native_has(const struct remote_stack *stack, size_t i, uint64_t address)
{
	size_t caller = i + 1;

	while (caller < stack->count && stack->frames[caller].kind != STACK_NATIVE)
		caller++;
	return address >= stack->frames[i].sp &&
	       (caller == stack->count || address < stack->frames[caller].sp);
}

static bool is_begun_in(const struct region_place *place, const struct remote_stack *stack,
			size_t i)
{
	const struct stack_frame *frame = &stack->frames[i];

	if (place->count == 0)
		return false;
	switch (place->anchor) {
	case REGION_NATIVE:
		return frame->kind == STACK_NATIVE &&
		       native_has(stack, i, place->frames[0].frame);
	case REGION_PYTHON:
		return frame->kind == STACK_PYTHON &&
		       region_place_has_frame(place, frame->object, frame->code);
	case REGION_RUBY:
		return frame->kind == STACK_RUBY &&
		       region_place_has_frame(place, frame->object, 0);
	}
	return false;
}

/*
 * Regions already inserted directly inside frame i were begun earlier: the new one goes inside
 * of them.
 */
static size_t inside_of(const struct remote_stack *stack, size_t i)
{
	while (i > 0 && stack->frames[i - 1].kind == STACK_REGION)
		i--;
	return i;
}

static void put(struct remote_stack *stack, const struct region_place *place,
		const struct stack_frame *frame)
{
	const bool is_whole = stack->ending == WALK_COMPLETE || stack->ending == WALK_SWITCHED;
	size_t i = 0;

	while (i < stack->count && !is_begun_in(place, stack, i))
		i++;
	if (i < stack->count && place->anchor == REGION_RUBY)
		stack->frames[i] = *frame;
	else if (i < stack->count)
		stack_insert(stack, inside_of(stack, i), frame);
	else if (!is_whole || place->count == 0)
		/*
		 * Its frame is unknown: outside of all frames. If the stack is whole, it is on
		 * another stack.
		 */
		stack_insert(stack, inside_of(stack, i), frame);
}

void remote_regions_add(struct remote *remote, uint64_t area, pid_t inner_tid,
			struct remote_stack *stack)
{
	struct region open[REGIONS_OPEN];
	struct stack_frame frame;

	if (area == 0)
		return;
	const uint32_t count = read_open(remote, area, inner_tid, open);

	for (uint32_t i = 0; i < count; i++) {
		if (open[i].serial != 0 && make_frame(remote, &open[i], &frame))
			put(stack, &open[i].place, &frame);
	}
}
