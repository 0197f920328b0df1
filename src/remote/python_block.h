/*
 * python_block - the `try` and `with` blocks that a CPython instruction is in.
 *
 * Up to 3.10 the frame lists them (f_blockstack); from 3.11 on the code object has a table of
 * them (co_exceptiontable).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct python_frame;
struct remote;

#define PYTHON_BLOCKS_MAX 32

struct python_block {
	uint32_t depth; /* slots of the value stack that an exception in the block leaves */
	uint32_t handler;
};

/*
 * The blocks that the frame is in, from the innermost on: stores them in out_blocks, which has
 * room for PYTHON_BLOCKS_MAX, and returns how many.
 */
size_t python_blocks_of(struct remote *remote, const struct python_frame *frame,
			struct python_block *out_blocks);
/* The line of the `with` of a block, in a function that begins at first_line; 0: not known. */
uint32_t python_block_line(struct remote *remote, const struct python_frame *frame,
			   const struct python_block *block, uint32_t first_line);
