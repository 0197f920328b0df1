/*
 * dwarf_unit - the functions and inlined calls of one compilation unit.
 */
#pragma once
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "range_map.h"

#define DWARF_NO_PARENT UINT32_MAX

/* A function, or an inlined call of one. */
struct dwarf_scope {
	Dwarf_Die die;
	uint32_t parent; /* the scope it is inlined into, or DWARF_NO_PARENT */
	bool is_inlined;
};

struct dwarf_unit {
	Dwarf_Die die;
	Dwarf_Off end; /* offset of the next unit */
	bool is_read;
	struct dwarf_scope *scopes;
	size_t scope_count;
	size_t scope_capacity;
	struct range_map by_address; /* to numbers of scopes; the innermost wins */
};

/* Adds all ranges of an entry to a map, at most *budget of them, which is decreased. */
void dwarf_add_ranges(struct range_map *map, Dwarf_Die *die, uint32_t priority, uint32_t value,
		      size_t *budget);
/* Finds the unit's functions, on the first call. */
void dwarf_unit_read(struct dwarf_unit *unit);
void dwarf_unit_done(struct dwarf_unit *unit);
