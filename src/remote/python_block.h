/*
 * python_block - the `try` and `with` blocks that a CPython instruction is in.
 *
 * Up to 3.10 the frame lists them (f_blockstack); from 3.11 on the code object has a table of
 * them (co_exceptiontable).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_frame;
struct remote;

#define PYTHON_BLOCKS_MAX 32

struct python_block {
	uint32_t depth; /* slots of the value stack that an exception in the block leaves */
	uint32_t handler;
};

enum python_block_kind {
	PYTHON_BLOCKS_WITH, /* that may be of a `with`: the outermost of each depth */
	PYTHON_BLOCKS_ALL,
};

/*
 * The blocks that the frame is in, from the innermost on: stores them in out_blocks, which has
 * room for PYTHON_BLOCKS_MAX, and returns how many.
 */
size_t python_blocks_of(struct remote *remote, const struct python_frame *frame,
			enum python_block_kind kind, struct python_block *out_blocks);
/* The instruction with the line of a block's `with`; CODE_NO_INSTRUCTION: not known. */
uint32_t python_block_setup(struct remote *remote, const struct python_frame *frame,
			    const struct python_block *block);
/* Whether a block that the frame is in covers that instruction, too; true if it is not known. */
bool python_block_covers(struct remote *remote, const struct python_frame *frame,
			 const struct python_block *block, uint32_t instruction);
/* The instruction's line, in a function that begins at first_line; 0: not known. */
uint32_t python_instruction_line(struct remote *remote, const struct python_frame *frame,
				 uint32_t instruction, uint32_t first_line);
