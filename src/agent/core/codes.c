#include "agent/core/codes.h"

#include <stddef.h>

#include "abi/ring.h"
#include "agent/core/own_ring.h"
#include "agent/core/mechanism.h"
#include "agent/core/memory.h"
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

/* Packs bytes into the words of a record. */
struct packer {
	struct ring_header *ring;
	u64 position;
	u64 index; /* of the next word */
	u64 word;
	u32 bytes; /* in word */
};

static void pack_byte(struct packer *packer, u8 byte)
{
	packer->word |= (u64)byte << 8 * packer->bytes;
	if (++packer->bytes < sizeof packer->word)
		return;
	ring_put(packer->ring, own_ring.terms.word_count, packer->position, packer->index++,
		 packer->word);
	packer->word = 0;
	packer->bytes = 0;
}

static void pack_text(struct packer *packer, const struct name_text *text)
{
	for (u32 i = 0; i < text->length; i++)
		pack_byte(packer, text->bytes[i]);
}

/* Unreadable bytes become zeros: an entry that advances nothing, in each kind of line table. */
static void pack_table(struct packer *packer, struct mem *mem, u64 from, u32 length)
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
		pack_byte(packer, (u8)(word >> 8 * part));
	}
}

static void pack_end(struct packer *packer)
{
	if (packer->bytes != 0)
		ring_put(packer->ring, own_ring.terms.word_count, packer->position,
			 packer->index, packer->word);
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
	const u32 fixed = (u32)(offsetof(struct ring_code, bytes) / sizeof(u64));
	const u16 words = (u16)(fixed + (bytes + sizeof(u64) - 1) / sizeof(u64));
	struct packer packer = { .ring = ring, .index = fixed };

	MECHANISMS_DO(name_code, (code));
	if (ring_reserve(ring, own_ring.terms.word_count, words, &packer.position) < 0)
		return false;
	ring_put(ring, own_ring.terms.word_count, packer.position, 1, code->key);
	ring_put(ring, own_ring.terms.word_count, packer.position, 2,
		 (u64)code->kind | (u64)code->table << 8 |
			 (u64)(is_cut(code) ? RING_CODE_IS_CUT : 0) << 16 |
			 (u64)code->first_line << 32);
	ring_put(ring, own_ring.terms.word_count, packer.position, 3,
		 lengths_word(code, table_length));
	pack_text(&packer, code->name);
	pack_text(&packer, code->qualified);
	pack_text(&packer, code->file);
	pack_table(&packer, mem, code->table_at, table_length);
	pack_end(&packer);
	ring_commit(ring, own_ring.terms.word_count, packer.position, words, RING_CODE);
	sent_add(&codes_sent, hash_of(code->key, epoch));
	return true;
}
