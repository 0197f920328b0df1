/* Looks symbols up by name, in the hash tables of the dynamic linker. */
#include <string.h>

#include "elf_file.h"

/* A hash bucket has a handful of symbols; this bounds a damaged one. */
#define CHAIN_MAX 4096u
/* Longer than any name that is looked up. */
#define NAME_SIZE 64u

/* Whether symbol number `index` is defined here and named `name`. */
static bool is_symbol(const struct elf_file *elf, uint64_t index, const char *name,
		      struct elf_file_symbol *out_symbol)
{
	Elf64_Sym symbol;
	char text[NAME_SIZE];

	if (!elf_file_read(elf, elf->symbols + index * sizeof symbol, &symbol, sizeof symbol) ||
	    symbol.st_shndx == SHN_UNDEF || symbol.st_name >= elf->names_size ||
	    !elf_file_read_text(elf, elf->names + symbol.st_name, text, sizeof text) ||
	    strcmp(text, name) != 0)
		return false;
	*out_symbol = (struct elf_file_symbol){ symbol.st_value, symbol.st_size };
	return true;
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name != '\0'; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* The format as in binutils' bfd/elflink.c: header, Bloom filter, buckets, chains. */
static bool find_by_gnu_hash(const struct elf_file *elf, const char *name,
			     struct elf_file_symbol *out_symbol)
{
	struct {
		uint32_t bucket_count, first_symbol, filter_count, filter_shift;
	} head;
	uint32_t hash = gnu_hash_of(name), index, word;
	uint64_t at = elf->gnu_hash + sizeof head, filter;

	if (!elf_file_read(elf, elf->gnu_hash, &head, sizeof head) || head.bucket_count == 0 ||
	    head.filter_count == 0)
		return false;
	if (!elf_file_read(elf, at + (hash / 64 % head.filter_count) * 8, &filter,
			   sizeof filter) ||
	    (filter >> hash % 64 & filter >> (hash >> head.filter_shift % 32) % 64 & 1) == 0)
		return false;
	at += head.filter_count * 8ULL;
	if (!elf_file_read_u32(elf, at + (hash % head.bucket_count) * 4ULL, &index) ||
	    index < head.first_symbol)
		return false;
	at += head.bucket_count * 4ULL;
	for (size_t i = 0; i < CHAIN_MAX; i++, index++) {
		if (!elf_file_read_u32(elf, at + (index - head.first_symbol) * 4ULL, &word))
			return false;
		if ((word | 1) == (hash | 1) && is_symbol(elf, index, name, out_symbol))
			return true;
		if (word & 1)
			return false;
	}
	return false;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 0;

	for (; *name != '\0'; name++) {
		hash = (hash << 4) + (uint8_t)*name;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	return hash;
}

static bool find_by_hash(const struct elf_file *elf, const char *name,
			 struct elf_file_symbol *out_symbol)
{
	uint32_t counts[2], index;

	if (!elf_file_read(elf, elf->hash, counts, sizeof counts) || counts[0] == 0 ||
	    !elf_file_read_u32(elf, elf->hash + 8 + hash_of(name) % counts[0] * 4ULL, &index))
		return false;
	for (size_t i = 0; i < CHAIN_MAX && index != 0 && index < counts[1]; i++) {
		if (is_symbol(elf, index, name, out_symbol))
			return true;
		if (!elf_file_read_u32(elf, elf->hash + 8 + (counts[0] + index) * 4ULL, &index))
			return false;
	}
	return false;
}

bool elf_file_find(const struct elf_file *elf, const char *name,
		   struct elf_file_symbol *out_symbol)
{
	if (elf->symbols == 0 || elf->names == 0)
		return false;
	if (elf->gnu_hash != 0)
		return find_by_gnu_hash(elf, name, out_symbol);
	return elf->hash != 0 && find_by_hash(elf, name, out_symbol);
}
