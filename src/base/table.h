/*
 * table - hash tables: 64-bit keys to 64-bit values, and interned byte strings.
 *
 * Zero-initialized structs are empty tables.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"

/* Maps a 128-bit key (two words; use hi = 0 for 64-bit ones) to a 64-bit value. */
struct table_slot;
struct table {
	struct table_slot *slots; /* capacity is a power of two */
	size_t capacity;
	size_t count;
};

/* Stores the key's value in *out_value; false, and *out_value untouched, if there is none. */
bool table_get(const struct table *table, uint64_t hi, uint64_t lo, uint64_t *out_value);
/* A pointer to the key's value, or NULL. It lives until the next table_at(). */
uint64_t *table_find(struct table *table, uint64_t hi, uint64_t lo);
/*
 * A pointer to the key's value, created as zero if the key is new; *out_is_new says which (may
 * be NULL). It lives until the next table_at().
 */
uint64_t *table_at(struct table *table, uint64_t hi, uint64_t lo, bool *out_is_new);
void table_remove(struct table *table, uint64_t hi, uint64_t lo);
/* Visits every entry, in no order: start with *cursor = 0; false at the end. */
bool table_next(const struct table *table, size_t *cursor, uint64_t *out_hi, uint64_t *out_lo,
		uint64_t *out_value);
void table_done(struct table *table);

/* Byte strings, each stored once, numbered from 1 in order of arrival; 0 is "none". */
struct intern {
	struct arena arena;
	struct intern_entry *entries;
	size_t count;
	size_t capacity;
	struct table index;
};

uint32_t intern_add(struct intern *intern, const void *bytes, size_t len);
uint32_t intern_string(struct intern *intern, const char *string); /* NULL gives 0 */
/* The id of bytes that were added before, or 0. */
uint32_t intern_find(const struct intern *intern, const void *bytes, size_t len);
/* The bytes of id, followed by a NUL; NULL for 0 or an unknown id. out_len may be NULL. */
const char *intern_get(const struct intern *intern, uint32_t id, size_t *out_len);
void intern_done(struct intern *intern);
