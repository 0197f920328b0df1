/*
 * plt - names for the stubs through which calls into other libraries go.
 *
 * A stub has no symbol of its own: it jumps through a slot of the GOT, and the relocation
 * of that slot has the name.  For the machines of plt_machines[]; others' stubs stay without.
 */
#pragma once

struct elf_image;
struct symbol_table;

/*
 * Adds a symbol for each stub, marked is_plt, to stubs.  symbols are the file's own,
 * finished: a relocation without a name (IRELATIVE) leads to one of those.
 */
void plt_symbols_add(struct symbol_table *stubs, const struct symbol_table *symbols,
		     const struct elf_image *image);
