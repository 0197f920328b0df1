/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * eh_frame_search - finds the FDE that covers an address, and the address's row.
 */
#pragma once
#include "eh_frame.h"

/* The head of .eh_frame_hdr: version, three encodings, two numbers, then the table. */
struct eh_table {
	u64 eh_frame;
	u64 entries; /* address of the first pair; 0 if there is no table we can search */
	u64 count;
};

static inline u64 eh_end_of(u64 start, u64 len, u64 limit)
{
	return start > limit || len > limit - start ? limit : start + len;
}

static inline int eh_table_read(struct eh_bytes *b, const struct native_image *image,
				struct eh_table *out_table)
{
	u64 hdr = image->eh_frame_hdr;
	u64 end = eh_end_of(hdr, image->eh_frame_hdr_len, image->end);

	if (hdr < image->start || hdr >= end)
		return -1;
	eh_bytes_seek(b, hdr, end);
	u8 version = eh_bytes_u8(b);
	u8 frame_encoding = eh_bytes_u8(b);
	u8 count_encoding = eh_bytes_u8(b);
	u8 table_encoding = eh_bytes_u8(b);
	if (b->failed || version != 1 || frame_encoding == EH_ENC_OMIT)
		return -1;
	*out_table = (struct eh_table){ 0 };
	out_table->eh_frame = eh_bytes_pointer(b, frame_encoding, hdr);
	if (b->failed)
		return -1;
	if (count_encoding == EH_ENC_OMIT || table_encoding != (EH_ENC_DATAREL | EH_ENC_SDATA4))
		return 0;
	out_table->count = eh_bytes_pointer(b, count_encoding, hdr);
	if (b->failed || out_table->count > (end - b->at) / 8)
		return -1;
	out_table->entries = b->at;
	return 0;
}

/* The FDE of the last pair that begins at or before lookup; 0 if there is none. */
static inline enum walk_status eh_table_search(struct mem *mem, const struct eh_table *table,
					       u64 hdr, u64 lookup, u64 *out_fde)
{
	u64 low = 0;
	u64 high = table->count;
	s32 pair[2];

	*out_fde = 0;
	for (u32 i = 0; i < EH_FRAME_SEARCH_MAX && low < high; i++) {
		u64 middle = low + (high - low) / 2;
		if (mem_read(mem, pair, sizeof pair, table->entries + middle * 8) < 0)
			return WALK_UNREADABLE;
		if (hdr + (u64)(s64)pair[0] > lookup) {
			high = middle;
		} else {
			low = middle + 1;
			*out_fde = hdr + (u64)(s64)pair[1];
		}
	}
	return WALK_COMPLETE;
}

/* Working memory of a lookup.  One struct, since the stack of a BPF program is small. */
struct eh_lookup {
	struct eh_bytes bytes;
	struct eh_section section;
	struct eh_cie cie;
	struct eh_fde fde;
};

/* Reads the FDE at address `at`, and its CIE. */
static inline int eh_lookup_fde(struct eh_lookup *l, u64 at)
{
	struct eh_record record;

	if (eh_record_read(&l->bytes, &l->section, at, &record) < 0)
		return -1;
	l->fde.cie = eh_record_cie(&l->section, &record);
	if (l->fde.cie == 0 || eh_cie_read(&l->bytes, &l->section, l->fde.cie, &l->cie) < 0)
		return -1;
	return eh_fde_read(&l->bytes, &record, &l->cie, &l->fde);
}

/* Searches all records, for images without a table. */
static inline enum walk_status eh_lookup_scan(struct eh_lookup *l, u64 lookup)
{
	struct eh_record record;
	u64 known_cie = 0;
	u64 at = l->section.at;

	for (u32 i = 0; i < EH_FRAME_SCAN_MAX && at < l->section.end; i++) {
		if (eh_record_read(&l->bytes, &l->section, at, &record) < 0)
			return WALK_BAD_RULE;
		if (record.end == record.id_at)
			return WALK_NO_RULE;
		at = record.end;
		if (record.id == 0)
			continue;
		l->fde.cie = eh_record_cie(&l->section, &record);
		if (l->fde.cie == 0)
			return WALK_BAD_RULE;
		if (l->fde.cie != known_cie &&
		    eh_cie_read(&l->bytes, &l->section, l->fde.cie, &l->cie) < 0)
			return WALK_BAD_RULE;
		known_cie = l->fde.cie;
		if (eh_fde_read(&l->bytes, &record, &l->cie, &l->fde) < 0)
			return WALK_BAD_RULE;
		if (lookup >= l->fde.begin && lookup < l->fde.end)
			return WALK_COMPLETE;
	}
	return WALK_NO_RULE;
}

/* Finds the FDE that covers lookup, by the table if there is one. */
static inline enum walk_status eh_lookup_find(struct eh_lookup *l, struct mem *mem,
					      const struct native_image *image, u64 lookup)
{
	struct eh_table table = { 0 };
	enum walk_status status;
	u64 fde;

	eh_bytes_init(&l->bytes, mem, 0, 0);
	l->section.at = image->eh_frame;
	if (eh_table_read(&l->bytes, image, &table) == 0 && l->section.at == 0)
		l->section.at = table.eh_frame;
	l->bytes.failed = 0;
	l->section.end = image->eh_frame_len != 0 && image->eh_frame != 0
				 ? eh_end_of(image->eh_frame, image->eh_frame_len, image->end)
				 : image->end;
	if (l->section.at < image->start || l->section.at >= l->section.end)
		return WALK_NO_RULE;
	if (table.entries == 0)
		return eh_lookup_scan(l, lookup);

	status = eh_table_search(mem, &table, image->eh_frame_hdr, lookup, &fde);
	if (status != WALK_COMPLETE)
		return status;
	if (fde == 0)
		return WALK_NO_RULE;
	if (eh_lookup_fde(l, fde) < 0)
		return WALK_BAD_RULE;
	return lookup >= l->fde.begin && lookup < l->fde.end ? WALK_COMPLETE : WALK_NO_RULE;
}

/* Runs the programs of the CIE and the FDE that were found. */
static inline int eh_lookup_row(struct eh_lookup *l, struct cfa_program *p, u64 lookup)
{
	p->remembered_count = 0;
	p->pointer_encoding = l->cie.pointer_encoding;
	p->is_past = 0;
	p->is_bad = 0;
	p->eh_data = 0;
	p->code_align = l->cie.code_align;
	p->data_align = l->cie.data_align;
	p->location = l->fde.begin;
	p->lookup = lookup;
	p->row = (struct cfa_row){ 0 };
	eh_bytes_seek(&l->bytes, l->cie.program, l->cie.program_end);
	if (cfa_program_run(p, &l->bytes) < 0)
		return -1;
	p->is_past = 0;
	p->initial = p->row;
	eh_bytes_seek(&l->bytes, l->fde.program, l->fde.program_end);
	return cfa_program_run(p, &l->bytes);
}
