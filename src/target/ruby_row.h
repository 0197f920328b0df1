/*
 * ruby_row - the layout data of one CRuby version.
 *
 * The rows are in ruby_offsets.h, which is generated. Not for walkers: a row becomes a struct
 * ruby_layout once a file was found to agree with it.
 */
#pragma once
#include "abi/ruby_layout.h"

struct ruby_row {
	u8 major, minor;
	/*
	 * The first release of the minor version with this layout, and the newest that was
	 * verified. Later ones may differ, as 4.0.6 does from 4.0.5.
	 */
	u8 first_patch, last_patch;

	/* As in struct ruby_layout. */
	u8 context_means;
	u8 class_ext_is_pointer;
	u8 singleton_flag;
	u8 first_line_is_value;
	u8 text_length_in_flags;
	u8 nil;
	u8 last_operator_id;
	struct ruby_offsets offsets;

	/*
	 * The effect of each instruction, by opcode: an enum ruby_operator, and
	 * RUBY_INSTRUCTION_PC_STAYS. The second half are the traced counterparts of the first.
	 * If empty, the file's own names determine them (ruby_instructions.h).
	 */
	u16 instruction_count;
	u8 instructions[RUBY_MAX_INSTRUCTIONS];
};
