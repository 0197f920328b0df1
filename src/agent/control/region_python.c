#include "agent/control/region_python.h"

#include <stddef.h>

#include "agent/core/own_ring.h"
#include "agent/core/memory.h"
#include "agent/core/walk.h"
#include "agent/interpreters/layouts.h"
#include "walk/python.h"
#include "walk/python_code.h"
#include "walk/python_text.h"

#define GENERATOR_FLAGS (0x20 | 0x80 | 0x200) /* co_flags: CO_GENERATOR, _COROUTINE, _ASYNC_… */
#define NAME_MAX        20U
#define FRAMES_MAX      100000U /* most frames that are looked through */

/* The next frame of a function, outwards; false: there is no more. */
static bool next_frame(struct mem *mem, struct python_walk *walk,
		       struct python_frame *out_frame)
{
	enum python_step step = PYTHON_SKIP;

	for (u32 i = 0; i < FRAMES_MAX && step == PYTHON_SKIP; i++)
		step = python_linked_next(mem, walk, out_frame);
	return step == PYTHON_FRAME;
}

/* From 3.11 on a frame's owner shows a generator, before that its code's flags. */
static bool is_generator(struct mem *mem, const struct python_layout *layout,
			 const struct python_frame *frame)
{
	s32 flags = 0;

	if (layout->chain != PYTHON_CHAIN_OBJECTS)
		return frame->owner == PYTHON_OWNER_GENERATOR;
	python_read_int(mem, &flags, frame->code, layout->offsets.code_flags);
	return (flags & GENERATOR_FLAGS) != 0;
}

/* Whether a function enters or leaves a context for its caller. */
static bool is_go_between(struct mem *mem, const struct python_layout *layout, u64 code)
{
	static const char *const names[] = {
		"__enter__",  "__exit__",  "enter_context",
		"__aenter__", "__aexit__", "enter_async_context",
	};
	struct python_code parts;
	struct name_text text;

	if (python_code_read(mem, layout, code, &parts) < 0)
		return false;
	python_text_read(mem, layout, parts.name, &text);
	for (u32 i = 0; i < sizeof names / sizeof *names; i++) {
		if (name_text_is(&text, names[i]))
			return true;
	}
	return false;
}

/*
 * Goes from the innermost frame outwards past those that ask for the region.  *out_frame is the
 * first that does not, and *out_next its caller (its code is 0 if there is none).
 */
static bool pass_asking(struct mem *mem, struct python_walk *walk,
			struct region_asking *out_asking, struct python_frame *out_frame,
			struct python_frame *out_next)
{
	if (!next_frame(mem, walk, out_frame))
		return false;
	/* The method that calls us is one that asks, whatever its name. */
	for (u32 i = 0; i < REGION_ASKING; i++) {
		const bool is_there = next_frame(mem, walk, out_next);

		if (!is_there)
			out_next->code = 0;
		if (i > 0 && !is_go_between(mem, walk->layout, out_frame->code) &&
		    !(out_next->code != 0 && is_generator(mem, walk->layout, out_frame) &&
		      is_go_between(mem, walk->layout, out_next->code)))
			return true;
		out_asking->codes[out_asking->count++] = out_frame->code;
		if (!is_there)
			return false;
		*out_frame = *out_next;
	}
	return false;
}

static void add(struct region_place *place, const struct python_frame *frame)
{
	place->frames[place->count].frame = frame->address;
	place->frames[place->count++].code = frame->code;
}

/* Begins a walk of the calling thread's frames; false: they are not known. */
static bool begin_frames(struct mem *mem, u64 state, struct python_walk *walk)
{
	struct ring_header *ring = own_ring.header;
	const struct python_layout *layout = ring != NULL ? layouts_python_outside(ring) : NULL;

	*mem = (struct mem){ .stack_low = 0, .stack_high = ~0ULL };
	return layout != NULL && python_begin(mem, layout, state, 0, walk) >= 0 &&
	       python_linked_begin(mem, walk) >= 0;
}

void region_python_place(u64 state, struct region_place *out_place,
			 struct region_asking *out_asking)
{
	struct python_frame frame, next;
	struct python_walk walk;
	struct mem mem;

	*out_place = (struct region_place){ .anchor = REGION_PYTHON };
	*out_asking = (struct region_asking){ 0 };
	if (!begin_frames(&mem, state, &walk) ||
	    !pass_asking(&mem, &walk, out_asking, &frame, &next))
		return;
	add(out_place, &frame);
	/* A generator's callers are left out: they change whenever it is resumed. */
	if (next.code == 0 || is_generator(&mem, walk.layout, &frame))
		return;
	add(out_place, &next);
	while (out_place->count < REGION_PLACES && next_frame(&mem, &walk, &next))
		add(out_place, &next);
}

void region_python_frames(u64 state, u64 out_frames[2])
{
	struct python_frame frame;
	struct python_walk walk;
	struct mem mem;

	if (!begin_frames(&mem, state, &walk))
		return;
	for (u32 i = 0; i < 2 && next_frame(&mem, &walk, &frame); i++)
		out_frames[i] = frame.address;
}

bool region_python_has_frame(u64 state, u64 frame, u64 code)
{
	struct python_frame seen;
	struct python_walk walk;
	struct mem mem;

	if (!begin_frames(&mem, state, &walk))
		return false;
	for (u32 i = 0; i < FRAMES_MAX && next_frame(&mem, &walk, &seen); i++) {
		if (seen.address == frame && (code == 0 || seen.code == code))
			return true;
	}
	return false;
}
