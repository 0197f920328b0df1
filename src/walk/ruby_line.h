/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_line - finds the source line of a frame.
 *
 * The line of an instruction is that of the last entry of insns_info at or before its position.
 * The entries' positions are kept as a succinct bit vector (iseq.c, succ_index_lookup()): the
 * first 54 positions as counts, seven bits each, nine to a word; the others in blocks of 512
 * bits, with the count before the block and before each 64 of its bits.
 *
 * A frame's pc points behind the instruction that executes, so its position is one less, unless
 * pc points at it: ruby_leaf.h, `stands_at`.  (Ruby's own profilers then report the line of the
 * instruction before.)
 */
#pragma once
#include "ruby_walk.h"

/* An unknown line. */
#define RUBY_NO_LINE 0xffffffffU

#define RUBY_LINES_COUNTED  54 /* IMMEDIATE_TABLE_SIZE */
#define RUBY_LINES_PER_WORD 9
#define RUBY_LINES_BLOCK    512
/* struct succ_dict_block: rank, small_block_ranks, bits[8]. */
#define RUBY_LINES_BLOCK_SIZE  80
#define RUBY_LINES_BLOCK_RANKS 8
#define RUBY_LINES_BLOCK_BITS  16

/* Counts bits without libgcc, which kernels lack. */
static inline u32 ruby_count_bits(u64 word)
{
	word -= word >> 1 & 0x5555555555555555ULL;
	word = (word & 0x3333333333333333ULL) + (word >> 2 & 0x3333333333333333ULL);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (u32)(word * 0x0101010101010101ULL >> 56);
}

/* How many entries begin at or before a position; 0 if it cannot be read. */
static inline u32 ruby_line_rank(struct mem *mem, u64 index, u32 position)
{
	const u32 bit = (position - RUBY_LINES_COUNTED) % RUBY_LINES_BLOCK;
	const u32 part = bit / 64;
	u64 block, word, ranks;
	u32 rank;

	if (position < RUBY_LINES_COUNTED) {
		const u32 shift = position % RUBY_LINES_PER_WORD * 7;

		if (mem_read(mem, &word, sizeof word,
			     index + position / RUBY_LINES_PER_WORD * sizeof word) < 0)
			return 0;
		return (u32)(word >> shift) & 0x7f;
	}
	block = index + RUBY_LINES_COUNTED / RUBY_LINES_PER_WORD * sizeof word +
		(u64)((position - RUBY_LINES_COUNTED) / RUBY_LINES_BLOCK) *
			RUBY_LINES_BLOCK_SIZE;
	if (mem_read(mem, &rank, sizeof rank, block) < 0 ||
	    mem_read(mem, &ranks, sizeof ranks, block + RUBY_LINES_BLOCK_RANKS) < 0 ||
	    mem_read(mem, &word, sizeof word,
		     block + RUBY_LINES_BLOCK_BITS + part * sizeof word) < 0)
		return 0;
	if (part > 0)
		rank += (u32)(ranks >> (part - 1) * 9) & 0x1ff;
	return rank + ruby_count_bits(word << (63 - bit % 64));
}

/*
 * The line that a frame of kind RUBY_FRAME_ISEQ executes, or RUBY_NO_LINE.  stands_at: pc points
 * at the instruction, not behind it.
 */
static inline u32 ruby_line_of(struct mem *mem, const struct ruby_layout *layout,
			       const struct ruby_frame *frame, int stands_at)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 position = (frame->pc - frame->encoded) / sizeof(u64);
	u64 entries, index;
	u32 count, line, rank = 1;

	if (position > 0 && !stands_at)
		position--;
	if (frame->pc < frame->encoded || position > frame->size ||
	    ruby_read_int(mem, &count, frame->body, offsets->body_line_count) < 0 ||
	    count == 0 || ruby_read(mem, &entries, frame->body, offsets->body_lines) < 0)
		return RUBY_NO_LINE;
	if (count > 1) {
		if (ruby_read(mem, &index, frame->body, offsets->body_line_index) < 0 ||
		    index == 0)
			return RUBY_NO_LINE;
		rank = ruby_line_rank(mem, index, (u32)position);
	}
	if (rank == 0 || rank > count ||
	    mem_read(mem, &line, sizeof line, entries + (u64)(rank - 1) * offsets->line_size) <
		    0)
		return RUBY_NO_LINE;
	return line;
}
