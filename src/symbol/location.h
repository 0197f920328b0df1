/*
 * location - the name of an address: one of the functions that are inlined into each other
 * there.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* One function at an address. depth 0 is the innermost inlined call. */
struct symbol_location {
	/*
	 * Demangled. Of several symbols for an address: a global one before a weak one before a
	 * local one, then the one with fewest leading underscores, then the shortest. DWARF's
	 * name takes precedence, unless a symbol that is not local names a C function. Never
	 * NULL: unknown addresses are "module+0x1234", where 0x1234 is the virtual address of
	 * the function's first byte if .eh_frame has it (so that a stripped function is one
	 * function). If neither a symbol nor .eh_frame covers the address,
	 * "module+0x1234…0x2345" gives the gap from the end of the previous function to the
	 * next one.
	 */
	const char *name;
	const char *file;      /* where the function is defined; NULL: unknown */
	uint32_t line;         /* of its definition; 0: unknown */
	const char *line_file; /* of the line being executed; NULL: unknown */
	uint32_t line_number;
	bool is_inlined;
	bool is_named; /* false: name is module+0xaddress */
};
