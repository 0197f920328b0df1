/*
 * ruby_row - what is known of one CRuby version, for all its processes.
 *
 * The rows are in ruby_offsets.h, which a program makes.  Not for walkers: a row becomes a
 * struct ruby_layout when a file has been found to agree with it.
 */
#pragma once
#include "abi/ruby_layout.h"

struct ruby_row {
	u8 major, minor;
	/*
	 * Of the minor version's releases, the first one with this layout and the newest one
	 * that it was compared with.  Later ones may differ: 4.0.6 does from 4.0.5.
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
	 * What each instruction does, by its opcode: an enum ruby_operator, and
	 * RUBY_INSTRUCTION_PC_STAYS.  The second half are the traced doubles of the first.  No
	 * instructions: a file's own names for them say it (ruby_instructions.h).
	 */
	u16 instruction_count;
	u8 instructions[RUBY_MAX_INSTRUCTIONS];
};
