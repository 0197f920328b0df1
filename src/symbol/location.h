/*
 * location - what an address is called: one function of those inlined into each other there.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* What a place is called.  depth 0 is the innermost inlined call. */
struct symbol_location {
	/*
	 * Demangled.  Of several symbols for an address: a global one before a weak one before
	 * a local one, then fewest underscores in front, then the shortest.  Where there is
	 * DWARF its name is taken, unless a symbol that is not local names a C function.
	 * Never NULL: "module+0x1234" when unknown, where 0x1234 is the virtual
	 * address of the function's first byte if .eh_frame knows it (so that a stripped
	 * function is one function).  What neither a symbol nor .eh_frame knows is
	 * "module+0x1234…0x2345" from the end of the function before to the next one.
	 */
	const char *name;
	const char *file;      /* where the function is defined; NULL unknown */
	uint32_t line;         /* of its definition; 0 unknown */
	const char *line_file; /* being executed; NULL unknown */
	uint32_t line_number;
	bool is_inlined;
	bool is_named; /* false: name is module+0xaddress */
};
