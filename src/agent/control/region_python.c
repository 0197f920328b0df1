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

/* A frame that the search has come to. */
struct seen {
	u64 frame, code;
	bool is_generator;
};

/*
 * The offset of co_flags, behind the counts of arguments and variables.  From 3.11 on frames
 * have the owner, which shows generators.
 */
static u16 offset_of_flags(const struct python_layout *layout)
{
	if (layout->version < 0x03000000U)
		return 28;
	return layout->version < 0x03080000U ? 32 : 36;
}

/* Begins a walk of the thread's frames. */
static bool begin_frames(struct mem *mem, const struct python_layout *layout, u64 state,
			 struct python_walk *walk)
{
	if (layout->chain == 0 || python_begin(mem, layout, state, 0, walk) < 0)
		return false;
	if (layout->chain == PYTHON_CHAIN_OBJECTS || layout->chain == PYTHON_CHAIN_SHIM)
		return true;
	return python_read(mem, &walk->frame, walk->first, layout->offsets.cframe_frame) >= 0;
}

static bool next_object(struct mem *mem, struct python_walk *walk, struct seen *out_seen)
{
	struct python_frame frame;
	s32 flags = 0;

	if (python_object_next(mem, walk, &frame) != PYTHON_FRAME)
		return false;
	python_read_int(mem, &flags, frame.code, offset_of_flags(walk->layout));
	*out_seen = (struct seen){ frame.address, frame.code, (flags & GENERATOR_FLAGS) != 0 };
	return true;
}

/* The next frame of a function, outwards; false: there is no more. */
static bool next_frame(struct mem *mem, struct python_walk *walk, struct seen *out_seen)
{
	const struct python_offsets *offsets = &walk->layout->offsets;
	u8 owner = 0;

	if (walk->layout->chain == PYTHON_CHAIN_OBJECTS)
		return next_object(mem, walk, out_seen);
	do {
		out_seen->frame = walk->frame;
		if (walk->frame == 0 || walk->frame == walk->base_frame ||
		    python_read_byte(mem, &owner, walk->frame, offsets->frame_owner) < 0 ||
		    python_read(mem, &walk->frame, walk->frame, offsets->frame_previous) < 0)
			return false;
	} while (owner >= PYTHON_OWNER_INTERPRETER);
	out_seen->code = python_code_of(mem, walk->layout, out_seen->frame);
	out_seen->is_generator = owner == PYTHON_OWNER_GENERATOR;
	return out_seen->code != 0;
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
 * Goes from the innermost frame outwards past those that ask for the region.  *out_seen is the
 * first that does not, and *out_next its caller (its code is 0 if there is none).
 */
static bool pass_asking(struct mem *mem, struct python_walk *walk,
			struct region_asking *out_asking, struct seen *out_seen,
			struct seen *out_next)
{
	if (!next_frame(mem, walk, out_seen))
		return false;
	/* The method that calls us is one that asks, whatever its name. */
	for (u32 i = 0; i < REGION_ASKING; i++) {
		const bool is_there = next_frame(mem, walk, out_next);

		if (!is_there)
			out_next->code = 0;
		if (i > 0 && !is_go_between(mem, walk->layout, out_seen->code) &&
		    !(out_seen->is_generator && out_next->code != 0 &&
		      is_go_between(mem, walk->layout, out_next->code)))
			return true;
		out_asking->codes[out_asking->count++] = out_seen->code;
		if (!is_there)
			return false;
		*out_seen = *out_next;
	}
	return false;
}

static void add(struct region_place *place, const struct seen *seen)
{
	place->frames[place->count].frame = seen->frame;
	place->frames[place->count++].code = seen->code;
}

void region_python_place(u64 state, struct region_place *out_place,
			 struct region_asking *out_asking)
{
	const struct python_layout *layout = layouts_python_outside(own_ring.header);
	struct mem mem = { .stack_low = 0, .stack_high = ~0ULL };
	struct python_walk walk;
	struct seen seen, next;

	*out_place = (struct region_place){ .anchor = REGION_PYTHON };
	*out_asking = (struct region_asking){ 0 };
	if (layout == NULL || !begin_frames(&mem, layout, state, &walk) ||
	    !pass_asking(&mem, &walk, out_asking, &seen, &next))
		return;
	add(out_place, &seen);
	/* A generator's callers are left out: they change whenever it is resumed. */
	if (seen.is_generator || next.code == 0)
		return;
	add(out_place, &next);
	while (out_place->count < REGION_PLACES && next_frame(&mem, &walk, &next))
		add(out_place, &next);
}

/* Begins a walk of the calling thread's frames; false: they are not known. */
static bool begin_own_frames(struct mem *mem, u64 state, struct python_walk *walk)
{
	struct ring_header *ring = own_ring.header;
	const struct python_layout *layout = ring != NULL ? layouts_python_outside(ring) : NULL;

	*mem = (struct mem){ .stack_low = 0, .stack_high = ~0ULL };
	return layout != NULL && begin_frames(mem, layout, state, walk);
}

void region_python_frames(u64 state, u64 out_frames[2])
{
	struct python_walk walk;
	struct seen seen;
	struct mem mem;

	if (!begin_own_frames(&mem, state, &walk))
		return;
	for (u32 i = 0; i < 2 && next_frame(&mem, &walk, &seen); i++)
		out_frames[i] = seen.frame;
}

bool region_python_has_frame(u64 state, u64 frame, u64 code)
{
	struct python_walk walk;
	struct seen seen;
	struct mem mem;

	if (!begin_own_frames(&mem, state, &walk))
		return false;
	for (u32 i = 0; i < FRAMES_MAX && next_frame(&mem, &walk, &seen); i++) {
		if (seen.frame == frame && (code == 0 || seen.code == code))
			return true;
	}
	return false;
}
