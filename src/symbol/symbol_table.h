/*
 * symbol_table - names of address ranges, found by address.
 *
 * Filled, then sorted once, then asked.  Knows nothing of files.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of two symbols for the same address the later kind wins. */
enum symbol_rank {
	SYMBOL_RANK_LOCAL,
	SYMBOL_RANK_WEAK,
	SYMBOL_RANK_GLOBAL,
};

struct symbol {
	uint64_t start;
	uint64_t end;     /* one past; start itself: not known */
	uint64_t limit;   /* end of the section */
	const char *name; /* as in the file, mangled */
	enum symbol_rank rank;
	bool is_function; /* STT_FUNC or STT_GNU_IFUNC, not STT_NOTYPE */
	bool is_plt;      /* a stub that jumps to the function of that name */
};

struct symbol_list {
	struct symbol *symbols;
	uint64_t *highest_end; /* of all symbols up to this one */
	size_t count;
	size_t capacity;
};

/* All zero is an empty table. */
struct symbol_table {
	struct symbol_list sized;
	struct symbol_list unsized;
	/* Everything that is a function has a symbol: .symtab was there. */
	bool is_whole;
};

struct frame_ranges;

/* The name is borrowed until symbol_table_done(). */
void symbol_table_add(struct symbol_table *table, const struct symbol *symbol);
/*
 * Sorts.  A symbol without a size reaches to the end of the function that .eh_frame says
 * starts there; without that, and only in a whole table, up to the next symbol, the next
 * function of .eh_frame or the end of its section.  Otherwise it names its first byte only,
 * for what follows may be a neighbour whose name was stripped.
 */
void symbol_table_finish(struct symbol_table *table, const struct frame_ranges *ranges);
/* The innermost symbol that covers the address, or NULL. */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);
/* Narrows [*low, *high) around the address, which no symbol covers, to the gap between two. */
void symbol_table_narrow(const struct symbol_table *table, uint64_t address, uint64_t *low,
			 uint64_t *high);
void symbol_table_done(struct symbol_table *table);
