/* Numbers byte strings, each stored once: struct intern of table.h. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "table.h"

struct intern_entry {
	const char *bytes;
	size_t len;
};

static uint64_t hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static uint64_t hash_bytes(const char *bytes, size_t len)
{
	uint64_t hash = len, word;

	for (; len >= sizeof word; bytes += sizeof word, len -= sizeof word) {
		memcpy(&word, bytes, sizeof word);
		hash = hash_word(hash, word);
	}
	word = 0;
	if (len > 0)
		memcpy(&word, bytes, len);
	return hash_word(hash, word);
}

static bool entry_is(const struct intern_entry *entry, const void *bytes, size_t len)
{
	return entry->len == len && (len == 0 || memcmp(entry->bytes, bytes, len) == 0);
}

static uint32_t append(struct intern *intern, const void *bytes, size_t len)
{
	intern->entries = array_grow(intern->entries, intern->count, &intern->capacity,
				     sizeof *intern->entries);
	intern->entries[intern->count++] = (struct intern_entry){
		.bytes = arena_strndup(&intern->arena, bytes, len),
		.len = len,
	};
	return (uint32_t)intern->count;
}

uint32_t intern_add(struct intern *intern, const void *bytes, size_t len)
{
	uint64_t hash = hash_bytes(bytes, len);

	/*
	 * The index key is a string's hash and the number of earlier strings with the same
	 * hash.
	 */
	for (uint64_t twin = 0;; twin++) {
		bool is_new;
		uint64_t *id = table_at(&intern->index, twin, hash, &is_new);

		if (is_new)
			*id = append(intern, bytes, len);
		if (is_new || entry_is(&intern->entries[*id - 1], bytes, len))
			return (uint32_t)*id;
	}
}

uint32_t intern_find(const struct intern *intern, const void *bytes, size_t len)
{
	const uint64_t hash = hash_bytes(bytes, len);

	for (uint64_t twin = 0;; twin++) {
		uint64_t id;

		if (!table_get(&intern->index, twin, hash, &id))
			return 0;
		if (entry_is(&intern->entries[id - 1], bytes, len))
			return (uint32_t)id;
	}
}

uint32_t intern_string(struct intern *intern, const char *string)
{
	return string ? intern_add(intern, string, strlen(string)) : 0;
}

const char *intern_get(const struct intern *intern, uint32_t id, size_t *out_len)
{
	if (id == 0 || id > intern->count)
		return NULL;
	if (out_len)
		*out_len = intern->entries[id - 1].len;
	return intern->entries[id - 1].bytes;
}

void intern_done(struct intern *intern)
{
	arena_done(&intern->arena);
	table_done(&intern->index);
	free(intern->entries);
	*intern = (struct intern){ 0 };
}
