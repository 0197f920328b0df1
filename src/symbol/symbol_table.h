/*
 * symbol_table - finds symbols by address.
 *
 * Add symbols, sort once, then look up. Does not deal with files.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of two symbols at the same address the later rank wins. */
enum symbol_rank {
	SYMBOL_RANK_LOCAL,
	SYMBOL_RANK_WEAK,
	SYMBOL_RANK_GLOBAL,
};

struct symbol {
	uint64_t start;
	uint64_t end;     /* one past; equal to start: unknown */
	uint64_t limit;   /* end of the section */
	const char *name; /* as in the file, mangled */
	enum symbol_rank rank;
	bool is_function; /* STT_FUNC or STT_GNU_IFUNC, not STT_NOTYPE */
	bool is_plt;      /* a PLT stub for the function of that name */
};

struct symbol_list {
	struct symbol *symbols;
	uint64_t *highest_end; /* the highest end of all symbols up to this index */
	size_t count;
	size_t capacity;
};

/* All zero is an empty table. */
struct symbol_table {
	struct symbol_list sized;
	struct symbol_list unsized;
	/* .symtab was present, so every function has a symbol. */
	bool is_whole;
};

struct frame_ranges;

/* The name is borrowed until symbol_table_done(). */
void symbol_table_add(struct symbol_table *table, const struct symbol *symbol);
/*
 * Sorts. A symbol without a size extends to the end of the function that .eh_frame has at its
 * start; if there is none, and only in a whole table, up to the next symbol, the next function
 * in .eh_frame or the end of its section. Otherwise it names only its first byte, as the code
 * after it may be a function whose name was stripped.
 */
void symbol_table_finish(struct symbol_table *table, const struct frame_ranges *ranges);
/* The innermost symbol that covers the address, or NULL. */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);
/*
 * Narrows [*low, *high) around an address without a symbol to the gap between its neighbours.
 */
void symbol_table_narrow(const struct symbol_table *table, uint64_t address, uint64_t *low,
			 uint64_t *high);
void symbol_table_done(struct symbol_table *table);
