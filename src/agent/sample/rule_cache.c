/*
 * rule_cache - which unwind rule an address has.
 *
 * A rule for an address is found once, by reading .eh_frame (about a microsecond), and kept
 * in a direct-mapped table of single words, `address << 16 | number of the rule`: one
 * atomic load, which cannot tear between threads.  Rules themselves are words as well, few
 * (hundreds for a large program), in a table that only grows.  That an image has no rule for an
 * address is kept, too: some have none for most of their code (Chromium).
 *
 * Both tables begin with one or two pages and spread as they fill: before, in a compiler that lives
 * 15 ms, each of some 150 new addresses touched a page of its own, a fault each.
 */
#include "agent/sample/rule_cache.h"

#define CACHE_BITS       16
#define CACHE_SLOTS      (1U << CACHE_BITS)
#define CACHE_BITS_FIRST 10 /* grows to CACHE_BITS by whole steps */
#define CACHE_BITS_STEP  2
#define RULE_BITS        14
#define RULE_SLOTS       (1U << RULE_BITS)
#define RULE_BITS_FIRST  9
#define RULE_PROBES      16U
/* In place of a rule's number: the address has no rule. */
#define NO_RULE_NUMBER 0xffffU

static struct {
	u64 words[CACHE_SLOTS];
	u64 rules[RULE_SLOTS]; /* 0: free */
	u32 more_bits;         /* the bits in use beyond CACHE_BITS_FIRST: only grows */
	u32 puts;              /* since it grew */
} cache;

static u32 hash_bits(u64 word, u32 bits)
{
	return (u32)((word * 0x9e3779b97f4a7c15ULL) >> (64 - bits));
}

static u32 cache_bits(void)
{
	const u32 bits = CACHE_BITS_FIRST + __atomic_load_n(&cache.more_bits, __ATOMIC_RELAXED);

	return bits < CACHE_BITS ? bits : CACHE_BITS;
}

static void cache_put(u64 address, u32 number)
{
	const u32 bits = cache_bits();

	if (address >> 48 != 0)
		return;
	__atomic_store_n(&cache.words[hash_bits(address, bits)], address << 16 | number,
			 __ATOMIC_RELAXED);
	/* Threads that count or grow it at once lose a count, or grow it once. */
	if (__atomic_add_fetch(&cache.puts, 1, __ATOMIC_RELAXED) < 1U << (bits - 1) ||
	    bits == CACHE_BITS)
		return;
	__atomic_store_n(&cache.puts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&cache.more_bits, bits + CACHE_BITS_STEP - CACHE_BITS_FIRST,
			 __ATOMIC_RELAXED);
}

static u64 cache_word(u64 address, u32 bits)
{
	const u64 word =
		__atomic_load_n(&cache.words[hash_bits(address, bits)], __ATOMIC_RELAXED);

	return word >> 16 == (address & 0xffffffffffffULL) ? word : 0;
}

u64 rule_cache_get(u64 address, bool *out_has_no_rule)
{
	const u32 bits = cache_bits();
	u64 word = cache_word(address, bits);

	/* The rule may have been kept before the table grew. */
	if (word == 0 && bits > CACHE_BITS_FIRST) {
		word = cache_word(address, bits - CACHE_BITS_STEP);
		if (word != 0)
			cache_put(address, (u32)(word & 0xffff));
	}
	*out_has_no_rule = word != 0 && (word & 0xffff) == NO_RULE_NUMBER;
	if (word == 0 || *out_has_no_rule)
		return 0;
	return __atomic_load_n(&cache.rules[word & (RULE_SLOTS - 1)], __ATOMIC_RELAXED);
}

/* The number of a rule among the first 1 << bits, made if it is new; false: no place for it. */
static bool cache_number_among(u64 rule, u32 bits, u32 *out_number)
{
	const u32 start = hash_bits(rule, bits);

	for (u32 i = 0; i < RULE_PROBES; i++) {
		u32 number = (start + i) & ((1U << bits) - 1);
		u64 there = 0;

		if (__atomic_compare_exchange_n(&cache.rules[number], &there, rule, 0,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    there == rule) {
			*out_number = number;
			return true;
		}
	}
	return false;
}

static bool cache_number_rule(u64 rule, u32 *out_number)
{
	return cache_number_among(rule, RULE_BITS_FIRST, out_number) ||
	       cache_number_among(rule, RULE_BITS, out_number);
}

void rule_cache_put(u64 address, u64 rule)
{
	u32 number;

	if (cache_number_rule(rule, &number))
		cache_put(address, number);
}

void rule_cache_put_none(u64 address)
{
	cache_put(address, NO_RULE_NUMBER);
}

void rule_cache_flush(void)
{
	for (u32 i = 0; i < 1U << cache_bits(); i++)
		__atomic_store_n(&cache.words[i], 0, __ATOMIC_RELAXED);
}
