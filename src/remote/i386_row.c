#include "remote/i386_row.h"

#include "remote/memory.h"

/* i386's .eh_frame differs from x86-64's, which walk/ reads, only in these two respects. */
#define EH_POINTER_SIZE 4
#define CFA_PLT_FORM                                                    \
	{                                                               \
		0x74, 4, 0x78, 0, 0x3f, 0x1a, 0, 0x2a, 0x32, 0x24, 0x22 \
	}
#include "walk/eh_frame_search.h"

static inline enum cfa_column cfa_column_of_register(u64 reg)
{
	switch (reg) {
	case I386_EBX:
		return CFA_COLUMN_BX;
	case I386_EBP:
		return CFA_COLUMN_FP;
	case I386_ESP:
		return CFA_COLUMN_SP;
	case I386_EIP:
		return CFA_COLUMN_RA;
	default:
		return CFA_COLUMN_COUNT;
	}
}

static inline u8 cfa_eh_data_of_register(u64 reg)
{
	(void)reg;
	return 0;
}

void i386_row_find(struct mem *mem, const struct native_image *image, uint64_t lookup,
		   struct i386_row *out_row)
{
	struct cfa_program program;
	struct eh_lookup found;

	*out_row = (struct i386_row){ .status = (uint8_t)eh_lookup_find(&found, mem, image,
									lookup) };
	if (out_row->status != WALK_COMPLETE)
		return;
	if (found.cie.ra_register != I386_EIP || eh_lookup_row(&found, &program, lookup) < 0) {
		out_row->status = WALK_BAD_RULE;
		return;
	}
	out_row->row = program.row;
	out_row->is_signal_frame = found.cie.is_signal_frame;
}
