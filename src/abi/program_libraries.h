/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * program_libraries - reads an ELF file's notes and dynamic section: whether it is a Go program,
 * and which libraries it lists first.
 */
#pragma once
#include "abi/program_elf.h"

static inline void program_take_dynamic(struct program_elf *elf, u64 tag, u64 value)
{
	/* In an image in memory, ld.so has added the bias to addresses, if it may write there. */
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
 * Whether a symbol is defined, by the table of DT_GNU_HASH: a header of four words, a Bloom
 * filter of 64-bit words, the first symbol of each bucket's chain, and the chains' own hashes,
 * whose lowest bit marks the last.
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

/*
 * Whether it contains Go's runtime: by its linker's note, or a symbol that every cgo program
 * exports.
 */
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
 * The sanitizers' runtimes must come before other libraries; ASan's ends the program if it does
 * not.  Names of gcc's, and of clang's with -shared-libsan.
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

/*
 * The sanitizers' runtimes at the start of the program's list of libraries, joined for
 * LD_PRELOAD.
 */
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
