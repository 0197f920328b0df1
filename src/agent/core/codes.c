#include "agent/core/codes.h"

#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/mechanism.h"
#include "agent/core/memory.h"
#include "agent/core/record.h"
#include "agent/core/sent.h"
#include "walk/python_text.h"

#define SENT_CODES 16384U
/* Bytes of a line table; larger ones are cut. */
#define TABLE_MAX 32768U

static u64 sent_codes[SENT_CODES];
static const struct sent codes_sent = { .slots = sent_codes, .count = SENT_CODES };

/* A code is identified by its key; each epoch has another hash for the same key. */
static u64 hash_of(u64 key, u64 epoch)
{
	u64 hash = (key ^ epoch) * 0x9fb21c651e98df25ULL;

	return sent_hash(hash ^ hash >> 32, epoch);
}

bool codes_has_sent(u64 key, u64 epoch)
{
	return sent_has(&codes_sent, hash_of(key, epoch));
}

static void put_text(struct record *record, const struct name_text *text)
{
	for (u32 i = 0; i < text->length; i++)
		record_put_byte(record, text->bytes[i]);
}

/* Unreadable bytes become zeros: an entry that advances nothing, in each kind of line table. */
static void put_table(struct record *record, struct mem *mem, u64 from, u32 length)
{
	u64 word = 0;

	for (u32 i = 0; i < length; i++) {
		const u32 part = i % sizeof word;

		if (part == 0) {
			const u32 left = length - i;

			word = 0;
			if (mem_read(mem, &word, left < sizeof word ? left : sizeof word,
				     from + i) < 0)
				word = 0;
		}
		record_put_byte(record, (u8)(word >> 8 * part));
	}
}

static u64 lengths_word(const struct code *code, u32 table_length)
{
	return (u64)code->name->length | (u64)code->qualified->length << 16 |
	       (u64)code->file->length << 32 | (u64)table_length << 48;
}

static bool is_cut(const struct code *code)
{
	return code->name->is_cut || code->qualified->is_cut || code->file->is_cut ||
	       code->table_length > TABLE_MAX;
}

bool codes_send(struct ring_header *ring, u64 epoch, struct mem *mem, const struct code *code)
{
	const u32 table_length =
		code->table_length < TABLE_MAX ? (u32)code->table_length : TABLE_MAX;
	const u32 bytes = code->name->length + code->qualified->length + code->file->length +
			  table_length;
	const u64 fixed = offsetof(struct ring_code, bytes) / sizeof(u64);
	struct record record;

	MECHANISMS_DO(name_code, (code));
	if (!record_begin(&record, ring, fixed + (bytes + sizeof(u64) - 1) / sizeof(u64)))
		return false;
	record_put(&record, code->key);
	record_put(&record, (u64)code->kind | (u64)code->table << 8 |
				    (u64)(is_cut(code) ? RING_CODE_IS_CUT : 0) << 16 |
				    (u64)code->first_line << 32);
	record_put(&record, lengths_word(code, table_length));
	put_text(&record, code->name);
	put_text(&record, code->qualified);
	put_text(&record, code->file);
	put_table(&record, mem, code->table_at, table_length);
	record_end(&record, RING_CODE);
	sent_add(&codes_sent, hash_of(code->key, epoch));
	return true;
}
