/*
 * go_table - the distance from the stack pointer to the return address, at each instruction of
 * Go functions: the table that Go's own tracebacks use.
 *
 * Go programs have no .eh_frame, and leaf functions keep no frame pointer. Every Go program has
 * the table .gopclntab, stripped or not; supported are its versions since Go 1.18 (Go's
 * src/runtime/symtab.go, pcHeader and _func).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct elf_file;

struct go_table {
	uint64_t address, size; /* in the file's addresses; size 0: there is none */
	uint64_t text;          /* base of the functions' addresses */
	uint64_t steps;         /* of the step tables, from address */
	uint64_t functions;     /* of the index of functions, from address */
	uint64_t count;
	uint32_t flags_at; /* in a function's record */
	uint8_t quantum;   /* bytes of the shortest instruction */
};

struct go_frame {
	uint32_t depth;   /* the return address is at the stack pointer + depth */
	bool is_last;     /* outermost: nothing called it */
	bool moves_stack; /* it sets the stack pointer: depth is not valid */
};

/* False: the file has no such table, or an unknown version. */
bool go_table_read(struct elf_file *elf, struct go_table *out_table);
/* False: the address is in no Go function. */
bool go_table_find(const struct elf_file *elf, const struct go_table *table, uint64_t address,
		   struct go_frame *out_frame);
