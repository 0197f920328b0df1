/*
 * eval_loop - CPython's eval loop, which jumps from each instruction to the next through a table:
 * finds this table, and where the loop keeps the variables that a dispatch hook needs.
 *
 * The table (opcode_targets[]) is data: 256 code addresses, one per opcode.  If an entry is
 * replaced by the address of a dispatch hook, the loop passes the hook, which goes on to where
 * the entry pointed before.  The compiler chooses in which registers the loop keeps its stack
 * pointer, the next instruction, and that one's argument; but the choice is the same at each jump
 * through the table, since each may lead anywhere.  It is found out by executing known code with
 * hooks that only look (python/eval_loop_watch.c).  A test then makes calls of every sort and
 * checks that they are counted right (python/eval_loop_test.c).
 *
 * python/dispatch.h says which dispatch hooks there are and what they do.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct python_layout;

/* Indexes into what a dispatch hook has pushed: the loop's registers, then its stack. */
#define LOOP_REGISTERS   15 /* rax is the last */
#define LOOP_TARGET      15 /* the code the dispatch hook goes on to */
#define LOOP_STACK       16
#define LOOP_STACK_WORDS 48
#define LOOP_PLACES      (LOOP_STACK + LOOP_STACK_WORDS)
#define LOOP_NOWHERE     LOOP_PLACES

#define LOOP_TABLE_WORDS 256U

/* What is known of a version's loop in advance. */
struct loop_shape {
	const struct python_layout *layout;
	/* A run of unused opcodes, with one address, between two used ones or last. */
	u8 first_unused, last_unused;
	u8 call; /* opcode of CALL */
	/* The callable lies so many words below its arguments, next to a NULL. */
	u8 callee_depth;
	u64 tags; /* bits of words on the value stack that are not part of the address */
};

struct loop_table {
	void **words; /* NULL: not found, or ambiguous */
	int protection;
};

/* Finds the table in the loop's image.  False: not found. */
bool trace_eval_loop_find_table(const struct loop_shape *shape, struct loop_table *out_table);
bool trace_eval_loop_write_table(const struct loop_table *table, void *const *targets);

/* Where the loop keeps these: an index into what a dispatch hook has pushed, or LOOP_NOWHERE. */
struct loop_places {
	u32 next, stack, argument, state, frame;
};

/*
 * Finds these places: executes a little code twice, while dispatch hooks, including those of
 * CALL, call trace_eval_loop_watch().  False: they cannot be determined.
 */
bool trace_eval_loop_find_places(const struct loop_shape *shape,
				 struct loop_places *out_places);
/* While places are being looked for: examines what an instruction's hook has pushed. */
void trace_eval_loop_watch(const u64 *places, u64 opcode);

/* Runs Python code: whether the hooks in the table count calls of every sort. */
bool trace_eval_loop_test(const struct loop_shape *shape, bool has_builtins);
