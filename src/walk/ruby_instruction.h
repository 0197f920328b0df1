/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_instruction - which of the VM's instructions a word of an iseq, or a machine address,
 * belongs to.
 *
 * An iseq's code is threaded: an instruction is the address of its machine code in
 * vm_exec_core(), followed by its operands.  So a word shows its instruction; and the machine's
 * pc shows which instruction is executing, except in code that the compiler lets two instructions
 * share.
 */
#pragma once
#include "ruby_memory.h"

#define RUBY_NO_INSTRUCTION 0xffffU
/* RUBY_MAX_INSTRUCTIONS is less than this power of two. */
#define RUBY_INSTRUCTION_STEPS 9
/* Most operands of an instruction. */
#define RUBY_OPERANDS_MAX 5

/* The instruction whose machine code contains an address; RUBY_NO_INSTRUCTION: none. */
static inline u32 ruby_instruction_before(const struct ruby_layout *layout, u64 address)
{
	const u32 count = layout->instruction_count < RUBY_MAX_INSTRUCTIONS
				  ? layout->instruction_count
				  : RUBY_MAX_INSTRUCTIONS;
	const u64 offset = address - layout->core[0].start;
	u32 low = 0, high = count;

	if (address < layout->core[0].start || address >= layout->core[0].end || count == 0)
		return RUBY_NO_INSTRUCTION;
	for (u32 i = 0; i < RUBY_INSTRUCTION_STEPS && low < high; i++) {
		const u32 middle = (low + high) / 2;

		if (layout->labels[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? RUBY_NO_INSTRUCTION : low - 1;
}

/* The instruction of a word of an iseq; RUBY_NO_INSTRUCTION: an operand. */
static inline u32 ruby_instruction_of(const struct ruby_layout *layout, u64 word)
{
	const u32 i = ruby_instruction_before(layout, word);

	if (i == RUBY_NO_INSTRUCTION || layout->labels[i] != word - layout->core[0].start)
		return RUBY_NO_INSTRUCTION;
	return i;
}

/*
 * The address of the last instruction before pc; 0: there is none, or memory cannot be read.  No
 * operand looks like an instruction.
 */
static inline u64 ruby_instruction_place(struct mem *mem, const struct ruby_layout *layout,
					 u64 encoded, u64 pc)
{
	for (u32 i = 1; i <= RUBY_OPERANDS_MAX + 1; i++) {
		const u64 at = pc - i * sizeof(u64);
		u64 word;

		if (pc < encoded + i * sizeof word || mem_read(mem, &word, sizeof word, at) < 0)
			return 0;
		if (ruby_instruction_of(layout, word) != RUBY_NO_INSTRUCTION)
			return at;
	}
	return 0;
}

/* The last instruction before pc. */
static inline u32 ruby_instruction_ending(struct mem *mem, const struct ruby_layout *layout,
					  u64 encoded, u64 pc)
{
	const u64 place = ruby_instruction_place(mem, layout, encoded, pc);
	u64 word;

	if (place == 0 || mem_read(mem, &word, sizeof word, place) < 0)
		return RUBY_NO_INSTRUCTION;
	return ruby_instruction_of(layout, word);
}

/* An instruction's enum ruby_operator. */
static inline u8 ruby_operator_of(const struct ruby_layout *layout, u32 instruction)
{
	return instruction < RUBY_MAX_INSTRUCTIONS
		       ? layout->instructions[instruction] & RUBY_INSTRUCTION_OPERATOR
		       : RUBY_OPERATOR_NONE;
}

/* Whether the frame's pc points at this instruction while it executes, not behind it. */
static inline int ruby_pc_stays(const struct ruby_layout *layout, u32 instruction)
{
	return instruction < RUBY_MAX_INSTRUCTIONS &&
	       (layout->instructions[instruction] & RUBY_INSTRUCTION_PC_STAYS) != 0;
}
