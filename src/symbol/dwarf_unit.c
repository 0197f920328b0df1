/*
 * Reads a unit's entries (DIEs), which form a tree, stored in depth-first order: an entry with
 * children is followed by them, and a zero byte ends each list of siblings. This walk follows
 * the order of the bytes, always forwards, so that references backwards (cycles, in damaged
 * files) end the walk instead of repeating it, whatever libdw does.
 */
#include "dwarf_unit.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/memory.h"

/* Nested blocks, namespaces and inlined calls; compilers produce fewer than a hundred. */
#define DEPTH_MAX 1024
/* Code is after the ELF header; linkers give address 0 to functions that they dropped. */
#define LOWEST_CODE_ADDRESS 64
/* Ranges of one unit's functions: 1,000 times as many as large units have. */
#define UNIT_RANGES_MAX (16u << 20)

struct walk {
	struct dwarf_unit *unit;
	Dwarf_Die die;
	unsigned depth;
	size_t ranges_left;
	/* By depth: the scope that the children are inlined into. */
	uint32_t parents[DEPTH_MAX];
};

void dwarf_add_ranges(struct range_map *map, Dwarf_Die *die, uint32_t priority, uint32_t value,
		      size_t *budget)
{
	Dwarf_Addr base = 0;
	Dwarf_Addr start;
	Dwarf_Addr end;
	ptrdiff_t offset = 0;

	while (*budget > 0 && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		--*budget;
		if (start >= LOWEST_CODE_ADDRESS)
			range_map_add(map, start, end, priority, value);
	}
}

/* Records the entry if it is code; returns the scope that its children are inlined into. */
static uint32_t record_entry(struct walk *walk)
{
	struct dwarf_unit *unit = walk->unit;
	uint32_t parent = walk->parents[walk->depth];
	int tag = dwarf_tag(&walk->die);
	bool is_inlined = tag == DW_TAG_inlined_subroutine;

	if (tag != DW_TAG_subprogram && !is_inlined)
		return parent;
	if (!dwarf_hasattr(&walk->die, DW_AT_low_pc) &&
	    !dwarf_hasattr(&walk->die, DW_AT_ranges))
		return is_inlined ? parent : DWARF_NO_PARENT;
	if (unit->scope_count == DWARF_NO_PARENT)
		return DWARF_NO_PARENT;
	uint32_t number = (uint32_t)unit->scope_count;
	unit->scopes = array_grow(unit->scopes, unit->scope_count, &unit->scope_capacity,
				  sizeof *unit->scopes);
	unit->scopes[unit->scope_count++] = (struct dwarf_scope){
		.die = walk->die,
		.parent = is_inlined ? parent : DWARF_NO_PARENT,
		.is_inlined = is_inlined,
	};
	dwarf_add_ranges(&unit->by_address, &walk->die, walk->depth, number,
			 &walk->ranges_left);
	return number;
}

/* Types are most of a unit, and contain no code, except in Rust. */
static bool may_contain_code(const struct walk *walk, int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_compile_unit:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
		return dwarf_srclang((Dwarf_Die *)&walk->unit->die) != DW_LANG_C89 &&
		       dwarf_srclang((Dwarf_Die *)&walk->unit->die) != DW_LANG_C99 &&
		       dwarf_srclang((Dwarf_Die *)&walk->unit->die) != DW_LANG_C11;
	default:
		return false;
	}
}

static const uint8_t *unit_end(const struct dwarf_unit *unit)
{
	Dwarf_Die die = unit->die;

	return (const uint8_t *)die.addr + (unit->end - dwarf_dieoffset(&die));
}

/*
 * Continues at a byte after the current entry: another entry, or the zero that ends the list of
 * siblings, after which an ancestor's next sibling follows.
 */
static bool go_to(struct walk *walk, const uint8_t *at)
{
	const uint8_t *limit = unit_end(walk->unit);

	if ((uintptr_t)at <= (uintptr_t)walk->die.addr)
		return false;
	while (at < limit && *at == 0) {
		if (walk->depth <= 1)
			return false;
		walk->depth--;
		at++;
	}
	if (at >= limit)
		return false;
	walk->die = (Dwarf_Die){ .addr = (void *)(uintptr_t)at, .cu = walk->unit->die.cu };
	return true;
}

/* Skips the entry and, if it gives their end, its children. */
static bool go_past(struct walk *walk)
{
	Dwarf_Attribute attribute;
	Dwarf_Die next = { 0 };

	if (dwarf_attr(&walk->die, DW_AT_sibling, &attribute)) {
		if (!dwarf_formref_die(&attribute, &next))
			return false;
	} else if (dwarf_siblingof(&walk->die, &next) < 0) {
		return false;
	}
	return go_to(walk, next.addr);
}

/* Moves to the next entry; false at the end of the unit or of its readable part. */
static bool go_on(struct walk *walk, uint32_t parent_of_children)
{
	Dwarf_Die child;
	bool can_skip = !dwarf_haschildren(&walk->die) ||
			(dwarf_hasattr(&walk->die, DW_AT_sibling) &&
			 !may_contain_code(walk, dwarf_tag(&walk->die)));

	if (can_skip)
		return go_past(walk);
	int rc = dwarf_child(&walk->die, &child);
	if (rc > 0) /* an empty list of children */
		return go_past(walk);
	if (rc < 0 || walk->depth + 1 == DEPTH_MAX)
		return false;
	walk->depth++;
	walk->parents[walk->depth] = parent_of_children;
	walk->die = child;
	return true;
}

void dwarf_unit_read(struct dwarf_unit *unit)
{
	if (unit->is_read)
		return;
	unit->is_read = true;
	struct walk walk = { .unit = unit, .die = unit->die, .ranges_left = UNIT_RANGES_MAX };
	uint32_t parent = DWARF_NO_PARENT;
	while (go_on(&walk, parent))
		parent = record_entry(&walk);
	range_map_finish(&unit->by_address);
}

void dwarf_unit_done(struct dwarf_unit *unit)
{
	free(unit->scopes);
	range_map_done(&unit->by_address);
}
