/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * program_elf - what an ELF file's segments say of it, as far as preloading goes: its machine,
 * who starts it, whether it is Go's, which libraries it names first.
 *
 * Of a file, or of an image in memory (is_mapped: then offsets are addresses).  Reads through
 * a window of 1 KiB, which has nearly always all of it but the dynamic section.
 * Little-endian, 64-bit: others are only distinguished.  Not a reader of symbols: that is symbol/.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/program_kind.h"
#include "abi/types.h"

struct program_file;
/* Reads at most len bytes at offset: how many, 0 or negative if none.  By the includer. */
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
#define PROGRAM_CHAIN_MAX    64  /* symbols with one hash */

/* The ELF specification's, by offset: struct Elf64_Ehdr and its like. */
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
#define PROGRAM_MACHINE       62 /* EM_X86_64; x32 has it, too */
#define PROGRAM_MACHINE_SMALL 3  /* EM_386 */
/* glibc's own (sysdeps/x86_64, shlib-versions): all of its programs name it. */
#define PROGRAM_USUAL_LOADER "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define PROGRAM_MACHINE       183 /* EM_AARCH64 */
#define PROGRAM_MACHINE_SMALL 40  /* EM_ARM */
#define PROGRAM_USUAL_LOADER  "/lib/ld-linux-aarch64.so.1"
#else
#error "no machine of this name"
#endif

enum program_elf_verdict {
	PROGRAM_ELF_NONE, /* no ELF file that can be run */
	PROGRAM_ELF_OURS,
	PROGRAM_ELF_OTHER_CLASS,
	PROGRAM_ELF_OTHER_MACHINE,
};

struct program_segment {
	u64 offset, address, size;
};

struct program_elf {
	struct program_file *file;
	bool is_mapped; /* an image; addresses are as the file has them, less its bias */
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

	/* Of the dynamic section, as addresses; 0: none. */
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
 * The bytes at offset, at least len of them, until the next call; NULL if there are not as
 * many.  len is at most PROGRAM_HEAD_SIZE.
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

/* The bytes that the program will have at an address. */
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

/* A text of less than size bytes with its end; false, and "", if it is longer or cut off. */
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

/* Of a file that was just opened: its first bytes, as many as the kernel looks at. */
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

	/* The kernel wants its last byte to be the end. */
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

/* The header and the segments. */
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
		/* A copy, for the interpreter's name may lie outside the window. */
		u8 copy[PROGRAM_SEGMENT_SIZE];

		for (u32 j = 0; j < sizeof copy; j++)
			copy[j] = segment[j];
		program_take_segment(elf, copy);
	}
	return PROGRAM_ELF_OURS;
}

static inline void program_take_dynamic(struct program_elf *elf, u64 tag, u64 value)
{
	/* In an image, ld.so has added the bias to addresses, unless it may not write there. */
	const u64 address = value < elf->bias ? value : value - elf->bias;

	if (tag == PROGRAM_TAG_STRINGS)
		elf->strings = address;
	else if (tag == PROGRAM_TAG_SYMBOLS)
		elf->symbols = address;
	else if (tag == PROGRAM_TAG_HASH)
		elf->hash = address;
	else if (tag == PROGRAM_TAG_NEEDED &&
		 elf->needed_count < sizeof elf->needed / sizeof elf->needed[0])
		elf->needed[elf->needed_count++] = value;
}

static inline void program_read_dynamic(struct program_elf *elf)
{
	const u64 at = elf->is_mapped ? elf->dynamic.address : elf->dynamic.offset;
	const u64 count = elf->dynamic.size / 16;

	if (elf->is_dynamic_read)
		return;
	elf->is_dynamic_read = true;
	for (u64 i = 0; i < count && i < PROGRAM_DYNAMIC_MAX; i++) {
		const u8 *entry = program_bytes(elf, at + i * 16, 16);

		if (entry == NULL || program_u64(entry) == 0)
			return;
		program_take_dynamic(elf, program_u64(entry), program_u64(entry + 8));
	}
}

/* The note that Go's linker writes, unless -buildid= is given. */
static inline bool program_has_go_note(struct program_elf *elf,
				       const struct program_segment *segment)
{
	u64 at = elf->is_mapped ? segment->address : segment->offset;
	const u64 end = at + segment->size;

	for (u32 i = 0; i < PROGRAM_NOTE_MAX && end - at >= 16 && at < end; i++) {
		const u8 *note = program_bytes(elf, at, 16);

		if (note == NULL)
			return false;
		const u32 name = program_u32(note), content = program_u32(note + 4);

		if (program_u32(note + 8) == PROGRAM_NOTE_GO && name == 4 && note[12] == 'G' &&
		    note[13] == 'o' && note[14] == '\0')
			return true;
		at += 12 + (((u64)name + 3) & ~3ULL) + (((u64)content + 3) & ~3ULL);
	}
	return false;
}

static inline bool program_is_symbol(struct program_elf *elf, u32 index, const char *name)
{
	const u8 *symbol = program_bytes_at(elf, elf->symbols + (u64)index * 24, 24);

	if (symbol == NULL)
		return false;
	const u64 text = elf->strings + program_u32(symbol);

	for (u32 i = 0;; i++) {
		const u8 *at = program_bytes_at(elf, text + i, 1);

		if (at == NULL || *at != (u8)name[i])
			return false;
		if (name[i] == '\0')
			return true;
	}
}

/*
 * Whether a symbol is defined, by the table of DT_GNU_HASH: a head of four words, a filter
 * of 64-bit words that most names do not pass, a chain's first symbol for each hash, and the
 * chains' own hashes, whose lowest bit marks the last.
 */
static inline bool program_defines(struct program_elf *elf, const char *name)
{
	u32 hash = 5381;

	for (u32 i = 0; name[i] != '\0'; i++)
		hash = hash * 33 + (u8)name[i];
	program_read_dynamic(elf);
	const u8 *at = elf->hash != 0 ? program_bytes_at(elf, elf->hash, 16) : NULL;

	if (at == NULL)
		return false;
	const u32 buckets = program_u32(at), first = program_u32(at + 4),
		  filters = program_u32(at + 8), shift = program_u32(at + 12) & 31;

	if (buckets == 0 || filters == 0)
		return false;
	at = program_bytes_at(elf, elf->hash + 16 + (u64)(hash / 64 % filters) * 8, 8);
	const u64 filter = at != NULL ? program_u64(at) : 0;

	if ((filter >> (hash % 64) & filter >> ((hash >> shift) % 64) & 1) == 0)
		return false;
	const u64 chains = elf->hash + 16 + (u64)filters * 8;

	at = program_bytes_at(elf, chains + (u64)(hash % buckets) * 4, 4);
	u32 index = at != NULL ? program_u32(at) : 0;

	for (u32 i = 0; i < PROGRAM_CHAIN_MAX && index >= first; i++, index++) {
		at = program_bytes_at(elf, chains + (u64)buckets * 4 + (u64)(index - first) * 4,
				      4);
		const u32 found = at != NULL ? program_u32(at) : 1;

		if ((found | 1) == (hash | 1) && program_is_symbol(elf, index, name))
			return true;
		if (found & 1)
			return false;
	}
	return false;
}

/* Whether Go's runtime is in it: by its linker's note, or what every cgo program exports. */
static inline bool program_elf_is_go(struct program_elf *elf)
{
	for (u32 i = 0; i < elf->note_count; i++) {
		if (program_has_go_note(elf, &elf->notes[i]))
			return true;
	}
	return program_defines(elf, "_cgo_topofstack");
}

static inline bool program_begins_with(const char *text, const char *beginning)
{
	for (u32 i = 0; beginning[i] != '\0'; i++) {
		if (text[i] != beginning[i])
			return false;
	}
	return true;
}

/*
 * The sanitizers' runtimes stand before other libraries, and ASan's ends a program in which
 * it does not.  gcc's names, and clang's with -shared-libsan.
 */
static inline bool program_is_sanitizer(const char *library)
{
	static const char *const names[] = { "libasan.so",  "libtsan.so",   "liblsan.so",
					     "libubsan.so", "libhwasan.so", "libclang_rt." };

	for (u32 i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (program_begins_with(library, names[i]))
			return true;
	}
	return false;
}

/* Those that the program's own list of libraries begins with, as LD_PRELOAD wants them. */
static inline void program_elf_first_libraries(struct program_elf *elf,
					       char out_list[PROGRAM_LIBRARIES_SIZE])
{
	u32 used = 0;

	out_list[0] = '\0';
	program_read_dynamic(elf);
	for (u32 i = 0; i < elf->needed_count; i++) {
		const u32 begin = used > 0 ? used + 1 : 0;

		if (begin + 1 >= PROGRAM_LIBRARIES_SIZE ||
		    !program_text(elf, elf->strings + elf->needed[i], out_list + begin,
				  PROGRAM_LIBRARIES_SIZE - begin) ||
		    !program_is_sanitizer(out_list + begin)) {
			out_list[used] = '\0';
			return;
		}
		if (used > 0)
			out_list[used] = ':';
		for (used = begin; out_list[used] != '\0';)
			used++;
	}
}
