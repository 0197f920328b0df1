/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * program_elf - reads from an ELF file's segments what matters for preloading: its machine, its
 * loader, and where its tables are.
 *
 * Works on a file, or on an image in memory (is_mapped: then offsets are addresses).  Reads
 * through a window of 1 KiB, which nearly always covers all but the dynamic section.  Only 64-bit
 * little-endian files are read; others are only recognised.  Symbols are read in symbol/.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/program_kind.h"
#include "abi/types.h"

struct program_file;
/* Reads at most len bytes at offset: how many, 0 or negative if none.  Defined by the includer. */
static inline long program_read(struct program_file *file, void *dst, u32 len, u64 offset);

/* BINPRM_BUF_SIZE since Linux 5.1: what the kernel reads of a file to recognize it. */
#define PROGRAM_HEAD_SIZE   256
#define PROGRAM_WINDOW_SIZE 1024
/* The kernel refuses more than 64 KiB of program headers (fs/binfmt_elf.c). */
#define PROGRAM_SEGMENTS_MAX (65536 / PROGRAM_SEGMENT_SIZE)
#define PROGRAM_LOADS_MAX    8
#define PROGRAM_NOTES_MAX    4
#define PROGRAM_NOTE_MAX     16  /* in one segment */
#define PROGRAM_DYNAMIC_MAX  512 /* entries */
#define PROGRAM_CHAIN_MAX    64  /* symbols in one hash bucket */

/* Constants of the ELF specification; struct fields are read by their offsets. */
#define PROGRAM_ELF_HEADER_SIZE 64
#define PROGRAM_SEGMENT_SIZE    56
#define PROGRAM_TYPE_EXEC       2
#define PROGRAM_TYPE_DYN        3
#define PROGRAM_SEGMENT_LOAD    1
#define PROGRAM_SEGMENT_DYNAMIC 2
#define PROGRAM_SEGMENT_INTERP  3
#define PROGRAM_SEGMENT_NOTE    4
#define PROGRAM_TAG_NEEDED      1
#define PROGRAM_TAG_STRINGS     5
#define PROGRAM_TAG_SYMBOLS     6
#define PROGRAM_TAG_HASH        0x6ffffef5U
#define PROGRAM_NOTE_GO         4 /* cmd/link: ELF_NOTE_GOBUILDID_TAG */

#if defined(__x86_64__)
#define PROGRAM_MACHINE       62 /* EM_X86_64; also x32's */
#define PROGRAM_MACHINE_SMALL 3  /* EM_386 */
/* glibc's standard loader (sysdeps/x86_64, shlib-versions). */
#define PROGRAM_USUAL_LOADER "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define PROGRAM_MACHINE       183 /* EM_AARCH64 */
#define PROGRAM_MACHINE_SMALL 40  /* EM_ARM */
#define PROGRAM_USUAL_LOADER  "/lib/ld-linux-aarch64.so.1"
#else
#error "no machine of this name"
#endif

enum program_elf_verdict {
	PROGRAM_ELF_NONE, /* no executable ELF file */
	PROGRAM_ELF_OURS,
	PROGRAM_ELF_OTHER_CLASS,
	PROGRAM_ELF_OTHER_MACHINE,
};

struct program_segment {
	u64 offset, address, size;
};

struct program_elf {
	struct program_file *file;
	bool is_mapped; /* an image in memory; addresses are the file's, without the bias */
	u64 bias;
	u64 window_offset;
	u32 window_len;
	u8 window[PROGRAM_WINDOW_SIZE];

	struct program_segment loads[PROGRAM_LOADS_MAX];
	struct program_segment notes[PROGRAM_NOTES_MAX];
	struct program_segment dynamic;
	u32 load_count, note_count;
	bool has_interpreter;
	char interpreter[PROGRAM_HEAD_SIZE]; /* "" if it is longer */

	/* From the dynamic section, as addresses; 0: none. */
	bool is_dynamic_read;
	u64 strings, symbols, hash;
	u64 needed[4]; /* the first of them, as offsets into the strings */
	u32 needed_count;
};

static inline u16 program_u16(const u8 *at)
{
	return (u16)(at[0] | at[1] << 8);
}

static inline u32 program_u32(const u8 *at)
{
	return program_u16(at) | (u32)program_u16(at + 2) << 16;
}

static inline u64 program_u64(const u8 *at)
{
	return program_u32(at) | (u64)program_u32(at + 4) << 32;
}

/*
 * The bytes at offset, at least len of them, valid until the next call; NULL if there are fewer.
 * len is at most PROGRAM_HEAD_SIZE.
 */
static inline const u8 *program_bytes(struct program_elf *elf, u64 offset, u32 len)
{
	const u64 skip = offset - elf->window_offset;

	if (offset >= elf->window_offset && skip <= elf->window_len &&
	    len <= elf->window_len - skip)
		return elf->window + skip;

	const long got = program_read(elf->file, elf->window, sizeof elf->window, offset);

	elf->window_offset = offset;
	elf->window_len = got > 0 && (u64)got <= sizeof elf->window ? (u32)got : 0;
	return len <= elf->window_len ? elf->window : NULL;
}

/* The bytes that the program will have at this address. */
static inline const u8 *program_bytes_at(struct program_elf *elf, u64 address, u32 len)
{
	if (elf->is_mapped)
		return program_bytes(elf, address, len);
	for (u32 i = 0; i < elf->load_count; i++) {
		const struct program_segment *load = &elf->loads[i];

		if (address >= load->address && address - load->address < load->size)
			return program_bytes(elf, load->offset + (address - load->address),
					     len);
	}
	return NULL;
}

/*
 * Reads a NUL-terminated text of less than size bytes; false, and "", if it is longer or cut off.
 */
static inline bool program_text(struct program_elf *elf, u64 address, char *out_text, u32 size)
{
	for (u32 i = 0; i < size; i++) {
		const u8 *at = program_bytes_at(elf, address + i, 1);

		if (at == NULL)
			break;
		out_text[i] = (char)*at;
		if (*at == '\0')
			return true;
	}
	out_text[0] = '\0';
	return false;
}

/* The first bytes of a newly opened file, as many as the kernel looks at. */
static inline const u8 *program_head(struct program_elf *elf, u32 *out_len)
{
	program_bytes(elf, 0, 1);
	*out_len = elf->window_len < PROGRAM_HEAD_SIZE ? elf->window_len : PROGRAM_HEAD_SIZE;
	return elf->window;
}

static inline void program_read_interpreter(struct program_elf *elf,
					    const struct program_segment *segment)
{
	elf->has_interpreter = true;
	if (segment->size == 0 || segment->size > sizeof elf->interpreter)
		return;
	const u8 *text = program_bytes(elf, segment->offset, (u32)segment->size);

	/* The kernel requires the NUL. */
	if (text == NULL || text[segment->size - 1] != '\0')
		return;
	for (u32 i = 0; i < segment->size; i++)
		elf->interpreter[i] = (char)text[i];
}

static inline void program_take_segment(struct program_elf *elf, const u8 *header)
{
	const struct program_segment segment = {
		.offset = program_u64(header + 8),
		.address = program_u64(header + 16),
		.size = program_u64(header + 32), /* in the file */
	};

	switch (program_u32(header)) {
	case PROGRAM_SEGMENT_LOAD:
		if (elf->load_count < PROGRAM_LOADS_MAX)
			elf->loads[elf->load_count++] = segment;
		break;
	case PROGRAM_SEGMENT_NOTE:
		if (elf->note_count < PROGRAM_NOTES_MAX)
			elf->notes[elf->note_count++] = segment;
		break;
	case PROGRAM_SEGMENT_DYNAMIC:
		elf->dynamic = segment;
		break;
	case PROGRAM_SEGMENT_INTERP:
		program_read_interpreter(elf, &segment);
		break;
	default:
		break;
	}
}

static inline enum program_elf_verdict program_elf_machine(const u8 *header)
{
	const u16 type = program_u16(header + 16), machine = program_u16(header + 18);

	if (header[0] != 0x7f || header[1] != 'E' || header[2] != 'L' || header[3] != 'F')
		return PROGRAM_ELF_NONE;
	if (header[5] != 1) /* big-endian */
		return PROGRAM_ELF_OTHER_MACHINE;
	if (type != PROGRAM_TYPE_EXEC && type != PROGRAM_TYPE_DYN)
		return PROGRAM_ELF_NONE;
	if (header[4] == 1 && (machine == PROGRAM_MACHINE || machine == PROGRAM_MACHINE_SMALL))
		return PROGRAM_ELF_OTHER_CLASS;
	return header[4] == 2 && machine == PROGRAM_MACHINE ? PROGRAM_ELF_OURS
							    : PROGRAM_ELF_OTHER_MACHINE;
}

/* Reads the header and the segments. */
static inline enum program_elf_verdict program_elf_read(struct program_elf *elf)
{
	const u8 *header = program_bytes(elf, 0, PROGRAM_ELF_HEADER_SIZE);
	const enum program_elf_verdict verdict =
		header == NULL ? PROGRAM_ELF_NONE : program_elf_machine(header);

	if (verdict != PROGRAM_ELF_OURS)
		return verdict;
	const u64 offset = program_u64(header + 32);
	const u16 size = program_u16(header + 54), count = program_u16(header + 56);

	if (size != PROGRAM_SEGMENT_SIZE || count == 0 || count > PROGRAM_SEGMENTS_MAX)
		return PROGRAM_ELF_NONE;
	for (u32 i = 0; i < count; i++) {
		const u8 *segment = program_bytes(elf, offset + i * PROGRAM_SEGMENT_SIZE,
						  PROGRAM_SEGMENT_SIZE);

		if (segment == NULL)
			return PROGRAM_ELF_NONE;
		/* A copy, as reading the interpreter's name may move the window. */
		u8 copy[PROGRAM_SEGMENT_SIZE];

		for (u32 j = 0; j < sizeof copy; j++)
			copy[j] = segment[j];
		program_take_segment(elf, copy);
	}
	return PROGRAM_ELF_OURS;
}
