/*
 * regions_walk - puts the regions that a thread has open among the frames of a walk: each inside of
 * the frame that began it.
 */
#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/codes.h"
#include "agent/core/regions.h"
#include "agent/core/walk.h"
#include "walk/code_key.h"

void regions_begin_walk(struct walk *walk)
{
	const struct regions *own = regions_own;

	walk->regions = (struct regions_walk){ 0 };
	if (own != NULL && own->count > 0)
		walk->regions.regions = own;
}

u64 regions_name(struct walk *walk, const struct region_name *name)
{
	const struct name_text none = { 0 };
	const struct code code = {
		.key = name->key,
		.kind = RING_CODE_REGION,
		.name = &name->text,
		.qualified = &none,
		.file = &none,
	};

	if (!codes_has_sent(code.key, walk->epoch) &&
	    !codes_send(walk->ring, walk->epoch, NULL, &code))
		walk->is_lost = true;
	return code.key;
}

/* The word of a region's frame. */
static u64 word_of(struct walk *walk, const struct region *region)
{
	return code_word(regions_name(walk, region->name), CODE_NO_INSTRUCTION);
}

/* The next open region without a place yet, from index *at (innermost) down to 0; NULL: none. */
static const struct region *next_open(const struct walk *walk, u32 *at)
{
	const struct regions *own = walk->regions.regions;

	if (*at > REGIONS_OPEN)
		*at = REGIONS_OPEN;
	while (*at > 0) {
		const u32 i = --*at;

		if (own->open[i].serial != 0 && !(walk->regions.met >> i & 1))
			return &own->open[i];
	}
	return NULL;
}

static void mark_met(struct walk *walk, u32 index)
{
	walk->regions.met |= 1ULL << index;
}

/* Stores a word as a callee of the frame that was stored last. */
static void put_inside(struct walk *walk, u64 word)
{
	if (walk->count == 0 || !walk_push(walk, walk->frames[walk->count - 1]))
		return;
	walk->frames[walk->count - 2] = word;
}

/* The leaf can have no callee: it becomes a caller, and the innermost region the leaf. */
static void put_inside_leaf(struct walk *walk, u64 word)
{
	if (walk->regions.leaf == 0) {
		walk->regions.leaf = word;
		walk_push(walk, walk->leaf);
	} else {
		put_inside(walk, word);
	}
}

void regions_meet_native(struct walk *walk, u64 sp, u64 cfa, bool is_leaf)
{
	u32 at = walk->regions.regions->count;
	const struct region *region;

	while ((region = next_open(walk, &at)) != NULL) {
		const struct region_place *place = &region->place;

		if (place->anchor != REGION_NATIVE || place->frames[0].frame < sp ||
		    place->frames[0].frame >= cfa)
			continue;
		mark_met(walk, at);
		if (is_leaf)
			put_inside_leaf(walk, word_of(walk, region));
		else
			put_inside(walk, word_of(walk, region));
	}
}

void regions_meet_python(struct walk *walk, u64 frame, u64 code)
{
	u32 at = walk->regions.regions->count;
	const struct region *region;

	while ((region = next_open(walk, &at)) != NULL) {
		if (region->place.anchor != REGION_PYTHON ||
		    !region_place_has_frame(&region->place, frame, code))
			continue;
		mark_met(walk, at);
		walk_push(walk, word_of(walk, region));
	}
}

u64 regions_meet_ruby(struct walk *walk, u64 frame)
{
	u32 at = walk->regions.regions->count;
	const struct region *region;

	while ((region = next_open(walk, &at)) != NULL) {
		if (region->place.anchor != REGION_RUBY ||
		    !region_place_has_frame(&region->place, frame, 0))
			continue;
		mark_met(walk, at);
		return word_of(walk, region);
	}
	return 0;
}

void regions_end_walk(struct walk *walk)
{
	const bool is_whole = walk->status == WALK_COMPLETE || walk->status == WALK_SWITCHED;
	u32 at = walk->regions.regions->count;
	const struct region *region;

	while ((region = next_open(walk, &at)) != NULL) {
		/* The region's frame is on another stack: that of a greenlet that waits. */
		if (is_whole && region->place.count > 0)
			continue;
		walk_push(walk, word_of(walk, region));
	}
	if (walk->regions.leaf != 0)
		walk->leaf = walk->regions.leaf;
}
