#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/ring.h"

#define WORDS      256
#define MAX_RECORD 64

static struct ring_header *ring_of(u64 words)
{
	/*
	 * The header wants lines of its own; what aligned_alloc() gives is a multiple of
	 * them.
	 */
	struct ring_header *ring =
		aligned_alloc(128, (RING_HEADER_BYTES + words * sizeof(u64) + 127) & ~127ULL);

	assert_non_null(ring);
	memset(ring, 0, RING_HEADER_BYTES + words * sizeof(u64));
	ring->magic = RING_MAGIC;
	ring->version = RING_VERSION;
	ring->word_count = words;
	return ring;
}

/* A record whose words all follow from one number. */
static int put_number(struct ring_header *ring, u64 number, u16 words)
{
	u64 position = 0;

	if (ring_reserve(ring, ring->word_count, words, &position) < 0)
		return -1;
	for (u16 i = 1; i < words; i++)
		ring_put(ring, ring->word_count, position, i, number + i);
	ring_commit(ring, ring->word_count, position, words, RING_SAMPLE);
	return 0;
}

static u64 peek(struct ring_header *ring, u64 position, u64 *record)
{
	return ring_peek(ring_words(ring), ring->word_count, position,
			 __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), record, MAX_RECORD);
}

static void what_is_committed_is_read_whole(void **state)
{
	struct ring_header *ring = ring_of(WORDS);
	u64 record[MAX_RECORD];

	(void)state;
	assert_int_equal(put_number(ring, 1000, 5), 0);
	assert_int_equal(peek(ring, 0, record), 5);
	assert_int_equal(record[0] >> 16 & 0xff, RING_SAMPLE);
	assert_int_equal(record[0] >> 24 & 0xff, RING_RECORD_VERSION);
	for (u64 i = 1; i < 5; i++)
		assert_int_equal(record[i], 1000 + i);
	free(ring);
}

static void what_is_not_committed_is_not_read(void **state)
{
	struct ring_header *ring = ring_of(WORDS);
	u64 record[MAX_RECORD], position = 0;

	(void)state;
	assert_int_equal(ring_reserve(ring, ring->word_count, 5, &position), 0);
	assert_int_equal(peek(ring, position, record), 0);
	free(ring);
}

static void a_full_ring_refuses_and_stays_as_it_is(void **state)
{
	struct ring_header *ring = ring_of(WORDS);
	u64 record[MAX_RECORD];

	(void)state;
	for (u64 i = 0; i < WORDS / 8; i++)
		assert_int_equal(put_number(ring, i * 100, 8), 0);
	assert_false(ring_has_room(ring, ring->word_count, 1));
	assert_int_equal(put_number(ring, 7, 1), -1);
	assert_int_equal(ring->head, WORDS);
	assert_int_equal(peek(ring, 0, record), 8);
	assert_int_equal(record[1], 1);
	free(ring);
}

static void an_older_laps_record_is_not_taken_for_a_new_one(void **state)
{
	struct ring_header *ring = ring_of(WORDS);
	u64 record[MAX_RECORD], position = 0;

	(void)state;
	for (u64 i = 0; i < WORDS / 8; i++)
		assert_int_equal(put_number(ring, i, 8), 0);
	ring->tail = ring->head;
	assert_int_equal(ring_reserve(ring, ring->word_count, 8, &position), 0);
	assert_int_equal(position, WORDS);
	assert_int_equal(peek(ring, position, record), 0);
	free(ring);
}

static void a_record_may_wrap_around_the_end(void **state)
{
	struct ring_header *ring = ring_of(WORDS);
	u64 record[MAX_RECORD];

	(void)state;
	ring->head = ring->tail = WORDS - 3;
	assert_int_equal(put_number(ring, 50, 7), 0);
	assert_int_equal(peek(ring, WORDS - 3, record), 7);
	for (u64 i = 1; i < 7; i++)
		assert_int_equal(record[i], 50 + i);
	free(ring);
}

static void a_length_beyond_what_was_written_is_not_believed(void **state)
{
	struct ring_header *ring = ring_of(WORDS);
	u64 record[MAX_RECORD];

	(void)state;
	assert_int_equal(put_number(ring, 50, 4), 0);
	ring_words(ring)[0] = ring_pack_record(40, RING_SAMPLE, 0);
	assert_int_equal(peek(ring, 0, record), 0);
	ring_words(ring)[0] = ring_pack_record(0, RING_SAMPLE, 0);
	assert_int_equal(peek(ring, 0, record), 0);
	free(ring);
}

#define WRITERS      4
#define RECORDS_EACH 50000

struct writer {
	struct ring_header *ring;
	u64 first;
	u64 dropped;
};

static void *write_many(void *argument)
{
	struct writer *writer = argument;

	for (u64 i = 0; i < RECORDS_EACH; i++) {
		if (put_number(writer->ring, writer->first + i * 64, (u16)(2 + i % 9)) < 0)
			writer->dropped++;
	}
	return NULL;
}

/* Checks one record; its number is its second word. */
static void must_be_whole(const u64 *record, u64 count)
{
	for (u64 i = 2; i < count; i++)
		assert_int_equal(record[i], record[1] + i - 1);
}

static u64 read_what_is_there(struct ring_header *ring, u64 *position)
{
	u64 record[MAX_RECORD], count, records = 0;

	while ((count = peek(ring, *position, record)) != 0) {
		must_be_whole(record, count);
		*position += count;
		records++;
		__atomic_store_n(&ring->tail, *position, __ATOMIC_RELEASE);
	}
	return records;
}

static void many_writers_lose_nothing_that_they_did_not_count(void **state)
{
	struct ring_header *ring = ring_of(4096);
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	u64 position = 0, records = 0, dropped = 0;

	(void)state;
	for (u64 i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ ring, i << 40, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
	}
	/* While they write, and once more when they have. */
	for (int i = 0; i < 100000; i++)
		records += read_what_is_there(ring, &position);
	for (u64 i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], NULL);
		dropped += writers[i].dropped;
	}
	records += read_what_is_there(ring, &position);
	assert_int_equal(position, ring->head);
	assert_int_equal(records + dropped, WRITERS * RECORDS_EACH);
	assert_true(records > 0);
	free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_committed_is_read_whole),
		cmocka_unit_test(what_is_not_committed_is_not_read),
		cmocka_unit_test(a_full_ring_refuses_and_stays_as_it_is),
		cmocka_unit_test(an_older_laps_record_is_not_taken_for_a_new_one),
		cmocka_unit_test(a_record_may_wrap_around_the_end),
		cmocka_unit_test(a_length_beyond_what_was_written_is_not_believed),
		cmocka_unit_test(many_writers_lose_nothing_that_they_did_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
