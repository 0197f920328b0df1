/*
 * go_table - how far the stack pointer is from the return address, at each instruction of Go's
 * functions: what Go's own traces go by.
 *
 * Programs of Go have no .eh_frame, and functions that call none keep no frame pointer.  Every one
 * has the table .gopclntab, stripped or not; its versions from Go 1.18 on are known (Go's
 * src/runtime/symtab.go, pcHeader and _func).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct elf_file;

struct go_table {
	uint64_t address, size; /* in the file's addresses; size 0: there is none */
	uint64_t text;          /* what addresses of functions are counted from */
	uint64_t steps;         /* of the tables of steps, from address */
	uint64_t functions;     /* of the index of functions */
	uint64_t count;
	uint32_t flags_at; /* in a function's record */
	uint8_t quantum;   /* bytes of the shortest instruction */
};

struct go_frame {
	uint32_t depth;   /* the return address is at the stack pointer + depth */
	bool is_last;     /* nothing called it */
	bool moves_stack; /* it sets the stack pointer: depth does not count */
};

/* False: the file has none that is known. */
bool go_table_read(struct elf_file *elf, struct go_table *out_table);
/* False: the address is in no function of Go's. */
bool go_table_find(const struct elf_file *elf, const struct go_table *table, uint64_t address,
		   struct go_frame *out_frame);
