/*
 * eval_loop - CPython's loop, which goes from each instruction to the next by a table: where
 * the table is, and where the loop has what a dispatch hook between two instructions needs.
 *
 * The table (opcode_targets[]) is data: 256 addresses of code, one for each instruction.  An
 * entry that is replaced by the address of a dispatch hook has the loop come by the dispatch hook, which goes on
 * to where the entry pointed before.  In which registers the loop keeps its stack pointer, its
 * next instruction and that one's argument is the compiler's choice, the same at each jump by
 * the table, since each may lead anywhere: they are found out by executing known code with
 * dispatch hooks that only look (python/eval_loop_watch.c).  Whether calls are counted as they should be is
 * tried out with all ways of calling there are (python/eval_loop_test.c).
 *
 * python/dispatch.h says which dispatch hooks there are and what they do.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct python_layout;

/* The loop's registers as a dispatch hook has pushed them, and its stack behind them. */
#define LOOP_REGISTERS   15 /* rax is the last */
#define LOOP_TARGET      15 /* where the dispatch hook goes on */
#define LOOP_STACK       16
#define LOOP_STACK_WORDS 48
#define LOOP_PLACES      (LOOP_STACK + LOOP_STACK_WORDS)
#define LOOP_NOWHERE     LOOP_PLACES

#define LOOP_TABLE_WORDS 256U

/* What is known of a version's loop before it is looked at. */
struct loop_shape {
	const struct python_layout *layout;
	/* A run of instructions that there are not: as one, between two that there are, or last. */
	u8 first_unused, last_unused;
	u8 call; /* CALL, as which others are watched, too */
	/* What is called stands so many words below its arguments, beside a NULL. */
	u8 callee_depth;
	u64 tags; /* of words of the value stack, that are no part of an address */
};

struct loop_table {
	void **words; /* NULL: there is none, or many */
	int protection;
	u64 code, code_bytes; /* the segment that has the loop */
};

/* Of the image that has the loop.  False: not found. */
bool trace_eval_loop_find_table(const struct loop_shape *shape, struct loop_table *out_table);
bool trace_eval_loop_write_table(const struct loop_table *table, void *const *targets);

/* Where the loop has these: an index of what a dispatch hook has pushed, or LOOP_NOWHERE. */
struct loop_places {
	u32 next, stack, argument, state, frame;
};

/*
 * Where the loop has what: executes a little code twice, with dispatch hooks in the table whose hooks
 * call trace_eval_loop_watch(), those of CALL among them.  False: it cannot be said.
 */
bool trace_eval_loop_find_places(const struct loop_shape *shape,
				 struct loop_places *out_places);
/* Looks at what the dispatch hook of an instruction has pushed; nothing while nothing is looked for. */
void trace_eval_loop_watch(const u64 *places, u64 opcode);

/*
 * Whether all ways of calling are counted.  On the calling thread, in the interpreter's own
 * time, by the dispatch hooks that are in the table.
 */
bool trace_eval_loop_test(const struct loop_shape *shape, bool has_builtins);

/* The frame that a thread executes; 0: none. */
u64 trace_eval_loop_frame(const struct python_layout *layout, u64 state);
