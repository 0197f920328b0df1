/*
 * Open addressing with linear probing.  Removing a key moves later ones back, so there are no
 * tombstones and a search ends at the first empty slot.
 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define FIRST_CAPACITY ((size_t)16)

struct table_slot {
	uint64_t hi, lo, value;
	bool is_used;
};

/* The finalizer of MurmurHash3: each bit of the input changes half of the output's bits. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	x ^= x >> 33;
	return x;
}

/* The constant (2^64 divided by the golden ratio) keeps hi and lo from cancelling out. */
static size_t home_of(const struct table *table, uint64_t hi, uint64_t lo)
{
	return mix(mix(hi + 0x9e3779b97f4a7c15ULL) ^ lo) & (table->capacity - 1);
}

/* The slot of the key, or the empty one where it belongs.  The table must have slots. */
static struct table_slot *find_slot(const struct table *table, uint64_t hi, uint64_t lo)
{
	size_t i = home_of(table, hi, lo);

	/* Ends, because a table is never full. */
	while (table->slots[i].is_used &&
	       (table->slots[i].hi != hi || table->slots[i].lo != lo))
		i = (i + 1) & (table->capacity - 1);
	return &table->slots[i];
}

static void resize(struct table *table, size_t capacity)
{
	struct table old = *table;

	table->slots = xreallocarray(NULL, capacity, sizeof *table->slots);
	memset(table->slots, 0, capacity * sizeof *table->slots);
	table->capacity = capacity;
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.slots[i].is_used)
			*find_slot(table, old.slots[i].hi, old.slots[i].lo) = old.slots[i];
	}
	free(old.slots);
}

bool table_get(const struct table *table, uint64_t hi, uint64_t lo, uint64_t *out_value)
{
	const struct table_slot *slot;

	if (table->count == 0)
		return false;
	slot = find_slot(table, hi, lo);
	if (slot->is_used)
		*out_value = slot->value;
	return slot->is_used;
}

uint64_t *table_find(struct table *table, uint64_t hi, uint64_t lo)
{
	struct table_slot *slot = table->count == 0 ? NULL : find_slot(table, hi, lo);

	return slot != NULL && slot->is_used ? &slot->value : NULL;
}

uint64_t *table_at(struct table *table, uint64_t hi, uint64_t lo, bool *out_is_new)
{
	struct table_slot *slot;

	/* At most three quarters full. */
	if (table->count >= table->capacity - table->capacity / 4)
		resize(table, table->capacity ? table->capacity * 2 : FIRST_CAPACITY);
	slot = find_slot(table, hi, lo);
	if (out_is_new)
		*out_is_new = !slot->is_used;
	if (!slot->is_used) {
		*slot = (struct table_slot){ .hi = hi, .lo = lo, .is_used = true };
		table->count++;
	}
	return &slot->value;
}

/* Fills the hole with the next key that may move there, repeatedly, until there is no hole. */
static void close_hole(struct table *table, size_t hole)
{
	size_t mask = table->capacity - 1;

	for (size_t i = (hole + 1) & mask; table->slots[i].is_used; i = (i + 1) & mask) {
		size_t home = home_of(table, table->slots[i].hi, table->slots[i].lo);

		/*
		 * A key may not be before its home slot: counted from there, the hole must be
		 * nearer.
		 */
		if (((hole - home) & mask) > ((i - home) & mask))
			continue;
		table->slots[hole] = table->slots[i];
		hole = i;
	}
	table->slots[hole].is_used = false;
}

void table_remove(struct table *table, uint64_t hi, uint64_t lo)
{
	struct table_slot *slot;

	if (table->count == 0)
		return;
	slot = find_slot(table, hi, lo);
	if (!slot->is_used)
		return;
	close_hole(table, (size_t)(slot - table->slots));
	table->count--;
}

bool table_next(const struct table *table, size_t *cursor, uint64_t *out_hi, uint64_t *out_lo,
		uint64_t *out_value)
{
	while (*cursor < table->capacity) {
		const struct table_slot *slot = &table->slots[(*cursor)++];

		if (!slot->is_used)
			continue;
		*out_hi = slot->hi;
		*out_lo = slot->lo;
		*out_value = slot->value;
		return true;
	}
	return false;
}

void table_done(struct table *table)
{
	free(table->slots);
	*table = (struct table){ 0 };
}
