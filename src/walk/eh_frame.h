/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * eh_frame - finds an address's row in the .eh_frame section of a mapped image.
 *
 * The section is a list of records.  An FDE describes one function: its range of addresses
 * and its CFA program.  It refers to a CIE, which says how to read the FDE and how the
 * functions that share it begin.  A second section, .eh_frame_hdr, has a table of
 * (function, FDE) pairs sorted by address; linkers write it unless asked not to.
 * (LSB core, "Exception Frames"; the table's only encoding in use is datarel|sdata4.)
 *
 * All of it is the target's memory: sizes are checked against the image, loops are bounded.
 */
#pragma once
#include "abi/walk_status.h"
#include "cfa_program.h"

struct native_image {
	u64 start, end; /* where the image is mapped: [start, end) */
	u64 eh_frame_hdr, eh_frame_hdr_len;
	u64 eh_frame, eh_frame_len; /* addresses in the target; 0 where unknown */
};

/* A table of 2^32 entries would need 32 halvings. */
#define EH_FRAME_SEARCH_MAX 32
/* Without a table all records are searched; libraries without one are small or old. */
#ifndef EH_FRAME_SCAN_MAX
#define EH_FRAME_SCAN_MAX 65536
#endif
/* Augmentation strings in use: zR zPLR zRS zPLRS zRB zRG, and the terminating zero. */
#define EH_FRAME_AUGMENTATION_MAX 8

struct eh_cie {
	u32 code_align;
	s32 data_align;
	u8 has_size; /* 'z': FDEs carry a block of augmentation data, which has a size */
	u8 is_signal_frame;
	u8 pointer_encoding;
	u8 ra_register;
	u64 program, program_end;
};

struct eh_fde {
	u64 begin, end; /* the function */
	u64 cie;
	u64 program, program_end;
};

/* The part of the image that may be read as .eh_frame. */
struct eh_section {
	u64 at, end;
};

struct eh_record {
	u64 id_at; /* the CIE pointer of an FDE counts from here */
	u32 id;    /* 0: this is a CIE */
	u64 end;   /* equals id_at for the terminator of the section */
};

static inline int eh_section_holds(const struct eh_section *s, u64 at)
{
	return at >= s->at && at < s->end;
}

/* Reads a record's head.  64-bit records occur nowhere (libgcc cannot read them either). */
static inline int eh_record_read(struct eh_bytes *b, const struct eh_section *s, u64 at,
				 struct eh_record *out_record)
{
	if (!eh_section_holds(s, at))
		return -1;
	eh_bytes_seek(b, at, s->end);

	u32 length = (u32)eh_bytes_unsigned(b, 4);
	out_record->id_at = b->at;
	out_record->end = b->at + length;
	out_record->id = 0;
	if (b->failed || length == 0xffffffff || length > s->end - b->at)
		return -1;
	if (length == 0)
		return 0;
	out_record->id = (u32)eh_bytes_unsigned(b, 4);
	b->end = out_record->end;
	return length < 4 || b->failed ? -1 : 0;
}

/* Handles a letter of the augmentation string; negative if it is unknown. */
static inline int eh_cie_augmentation(struct eh_bytes *b, struct eh_cie *cie, char letter)
{
	u8 encoding;

	switch (letter) {
	case 'R':
		cie->pointer_encoding = eh_bytes_u8(b);
		return 0;
	case 'P':
		encoding = eh_bytes_u8(b);
		/* Skipped, so any base will do. */
		eh_bytes_in_format(b, encoding & EH_ENC_FORMAT_MASK);
		return 0;
	case 'L':
		eh_bytes_u8(b);
		return 0;
	case 'S':
		cie->is_signal_frame = 1;
		return 0;
	case 'B': /* aarch64: return addresses are signed with key B */
	case 'G': /* aarch64: the function uses memory tagging */
		return 0;
	default:
		return -1;
	}
}

/* Reads the fields between the augmentation string and its data. */
static inline int eh_cie_factors(struct eh_bytes *b, struct eh_cie *cie, u8 version)
{
	if (version == 4) {
		u8 address_size = eh_bytes_u8(b);
		u8 segment_size = eh_bytes_u8(b);
		if (address_size != EH_POINTER_SIZE || segment_size != 0)
			return -1;
	}
	u64 code_align = eh_bytes_uleb(b);
	s64 data_align = eh_bytes_sleb(b);
	u64 ra_register = version == 1 ? eh_bytes_u8(b) : eh_bytes_uleb(b);

	if (code_align > 0xffff || data_align != (s16)data_align || ra_register > 0xfe)
		return -1;
	cie->code_align = (u32)code_align;
	cie->data_align = (s32)data_align;
	cie->ra_register = (u8)ra_register;
	return 0;
}

static inline int eh_cie_read(struct eh_bytes *b, const struct eh_section *s, u64 at,
			      struct eh_cie *out_cie)
{
	struct eh_record record;
	char augmentation[EH_FRAME_AUGMENTATION_MAX];
	u32 letters = 0;

	if (eh_record_read(b, s, at, &record) < 0 || record.id != 0 ||
	    record.end == record.id_at)
		return -1;
	*out_cie = (struct eh_cie){ .pointer_encoding = EH_ENC_ABSPTR };
	u8 version = eh_bytes_u8(b);
	if (version != 1 && version != 3 && version != 4)
		return -1;
	for (; letters < EH_FRAME_AUGMENTATION_MAX; letters++) {
		augmentation[letters] = (char)eh_bytes_u8(b);
		if (augmentation[letters] == 0)
			break;
	}
	if (letters == EH_FRAME_AUGMENTATION_MAX || eh_cie_factors(b, out_cie, version) < 0)
		return -1;

	u64 data_end = 0;
	if (augmentation[0] == 'z') {
		out_cie->has_size = 1;
		u64 data_len = eh_bytes_uleb(b);
		if (data_len > b->end - b->at)
			return -1;
		data_end = b->at + data_len;
	} else if (letters != 0) {
		return -1;
	}
	for (u32 i = 1; i < EH_FRAME_AUGMENTATION_MAX && i < letters; i++)
		if (eh_cie_augmentation(b, out_cie, augmentation[i]) < 0)
			return -1;
	out_cie->program = out_cie->has_size ? data_end : b->at;
	out_cie->program_end = record.end;
	return b->failed ? -1 : 0;
}

/* Reads the FDE whose head is `record`; *cie is the one it refers to. */
static inline int eh_fde_read(struct eh_bytes *b, const struct eh_record *record,
			      const struct eh_cie *cie, struct eh_fde *out_fde)
{
	u8 format = cie->pointer_encoding & EH_ENC_FORMAT_MASK;

	eh_bytes_seek(b, record->id_at + 4, record->end);
	if (cie->pointer_encoding & EH_ENC_INDIRECT)
		return -1;
	out_fde->begin = eh_bytes_pointer(b, cie->pointer_encoding, 0);
	u64 range = eh_bytes_in_format(b, format);
	if (__builtin_add_overflow(out_fde->begin, range, &out_fde->end))
		return -1;
	if (cie->has_size) {
		u64 data_len = eh_bytes_uleb(b);
		if (data_len > b->end - b->at)
			return -1;
		b->at += data_len;
	}
	out_fde->program = b->at;
	out_fde->program_end = record->end;
	return b->failed ? -1 : 0;
}

/* The address of the CIE an FDE refers to; 0 if it cannot be one. */
static inline u64 eh_record_cie(const struct eh_section *s, const struct eh_record *record)
{
	u64 at = record->id_at - record->id;

	return record->id != 0 && eh_section_holds(s, at) && at < record->id_at ? at : 0;
}
