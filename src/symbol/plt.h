/*
 * plt - names the PLT stubs through which calls into other libraries go.
 *
 * A stub has no symbol of its own: it jumps through a slot of the GOT, and the relocation of
 * that slot has the name. Supports the machines in plt_machines[]; stubs of others get no
 * names.
 */
#pragma once

struct elf_image;
struct symbol_table;

/*
 * Adds a symbol for each stub, marked is_plt, to stubs. symbols are the file's own, finished:
 * they give a name to relocations without one (IRELATIVE).
 */
void plt_symbols_add(struct symbol_table *stubs, const struct symbol_table *symbols,
		     const struct elf_image *image);
