#include "collect/processes/mappings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Ended mappings are forgotten once there are so many. */
#define ENDED_KEPT 256

struct mappings {
	struct module_place *places; /* in the order they came */
	size_t count, capacity, ended;
	uint64_t *era_starts; /* of the eras after first_era */
	size_t era_count, era_capacity;
	uint32_t first_era;
};

struct mappings *mappings_new(void)
{
	return xzalloc(sizeof(struct mappings));
}

struct mappings *mappings_copy(const struct mappings *mappings)
{
	struct mappings *copy = mappings_new();

	for (size_t i = 0; i < mappings->count; i++) {
		struct module_place place = mappings->places[i];

		if (place.to_ns != UINT64_MAX)
			continue;
		place.row = 0;
		mappings_add(copy, &place);
	}
	return copy;
}

void mappings_free(struct mappings *mappings)
{
	if (mappings == NULL)
		return;
	free(mappings->places);
	free(mappings->era_starts);
	free(mappings);
}

static bool means_the_same(const struct module_place *old, const struct module_place *new)
{
	return old->module == new->module &&
	       old->start - old->file_offset == new->start - new->file_offset;
}

bool mappings_has(const struct mappings *mappings, const struct module_place *place)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const struct module_place *there = &mappings->places[i];

		if (there->to_ns == UINT64_MAX && there->start == place->start &&
		    there->end == place->end && means_the_same(there, place))
			return true;
	}
	return false;
}

static void mappings_append(struct mappings *mappings, const struct module_place *place)
{
	if (place->start >= place->end)
		return;
	mappings->places = array_grow(mappings->places, mappings->count, &mappings->capacity,
				      sizeof *mappings->places);
	mappings->places[mappings->count++] = *place;
}

/* The parts of `old` on both sides of `place` become mappings of their own from now on. */
static void mappings_keep_rest(struct mappings *mappings, struct module_place old,
			       const struct module_place *place)
{
	struct module_place below = old, above = old;

	below.end = place->start;
	below.from_ns = above.from_ns = place->from_ns;
	below.row = above.row = 0;
	above.start = place->end;
	if (above.start > old.start)
		above.file_offset += above.start - old.start;
	mappings_append(mappings, &below);
	mappings_append(mappings, &above);
}

/* Ends the mappings that `place` covers.  Returns whether one of them was of another file. */
static bool mappings_displace(struct mappings *mappings, const struct module_place *place)
{
	const size_t count = mappings->count;
	bool is_other = false;

	for (size_t i = 0; i < count; i++) {
		const struct module_place old = mappings->places[i];

		if (old.to_ns != UINT64_MAX || old.end <= place->start ||
		    place->end <= old.start)
			continue;
		/* The same file at the same address, mapped piece by piece: both remain. */
		if (means_the_same(&old, place))
			continue;
		mappings->places[i].to_ns = place->from_ns;
		mappings->ended++;
		mappings_keep_rest(mappings, old, place);
		is_other = true;
	}
	return is_other;
}

static bool covers(const struct module_place *outer, const struct module_place *inner)
{
	return outer->start <= inner->start && inner->end <= outer->end;
}

/*
 * An executable heap is reported again at each brk(), a page longer: 33,000 times in half a
 * second by GNU Common Lisp.  The last mapping in the list is enlarged as long as the recording
 * has no row of it; others that the new one covers end.  True if the new one need not be
 * appended.
 */
static bool mappings_grow(struct mappings *mappings, const struct module_place *place)
{
	for (size_t i = mappings->count; i-- > 0;) {
		struct module_place *old = &mappings->places[i];

		if (old->to_ns != UINT64_MAX || !means_the_same(old, place) ||
		    !covers(place, old))
			continue;
		if (i + 1 == mappings->count && old->row == 0) {
			old->start = place->start;
			old->end = place->end;
			old->file_offset = place->file_offset;
			return true;
		}
		old->to_ns = place->from_ns;
		mappings->ended++;
	}
	return false;
}

void mappings_add(struct mappings *mappings, const struct module_place *place)
{
	if (mappings_displace(mappings, place)) {
		mappings->era_starts =
			array_grow(mappings->era_starts, mappings->era_count,
				   &mappings->era_capacity, sizeof *mappings->era_starts);
		mappings->era_starts[mappings->era_count++] = place->from_ns;
	} else if (mappings_grow(mappings, place)) {
		return;
	}
	mappings_append(mappings, place);
}

uint32_t mappings_era(const struct mappings *mappings, uint64_t time_ns)
{
	size_t era = mappings->era_count;

	while (era > 0 && mappings->era_starts[era - 1] > time_ns)
		era--;
	return mappings->first_era + (uint32_t)era;
}

static void forget_eras(struct mappings *mappings, uint64_t before_ns)
{
	size_t gone = 0;

	while (gone < mappings->era_count && mappings->era_starts[gone] <= before_ns)
		gone++;
	mappings->era_count -= gone;
	mappings->first_era += (uint32_t)gone;
	memmove(mappings->era_starts, mappings->era_starts + gone,
		mappings->era_count * sizeof *mappings->era_starts);
}

void mappings_forget(struct mappings *mappings, uint64_t before_ns)
{
	size_t kept = 0;

	if (mappings->ended < ENDED_KEPT)
		return;
	mappings->ended = 0;
	for (size_t i = 0; i < mappings->count; i++) {
		const struct module_place *place = &mappings->places[i];

		if (place->to_ns <= before_ns)
			continue;
		mappings->ended += place->to_ns != UINT64_MAX;
		mappings->places[kept++] = *place;
	}
	mappings->count = kept;
	if (mappings->era_count > 0)
		forget_eras(mappings, before_ns);
}

struct module_place *mappings_find(struct mappings *mappings, uint64_t address, uint32_t era)
{
	const size_t later = era > mappings->first_era ? era - mappings->first_era : 0;
	const uint64_t era_end =
		later < mappings->era_count ? mappings->era_starts[later] : UINT64_MAX;

	/* The latest that existed until the end of the era. */
	for (size_t i = mappings->count; i-- > 0;) {
		struct module_place *place = &mappings->places[i];

		if (address >= place->start && address < place->end &&
		    place->to_ns >= era_end &&
		    (place->from_ns < era_end || era_end == UINT64_MAX))
			return place;
	}
	return NULL;
}

struct module_place *mappings_at(struct mappings *mappings, size_t i)
{
	return i < mappings->count ? &mappings->places[i] : NULL;
}
