/* What the agent writes into a ring made by hand. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The file itself: its table of what was sent is its own. */
#include "agent/core/permits.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/sample/emit.c"

#define WORDS (1U << 20)

struct own_ring own_ring;
struct own_process own_process;
struct permits permits;
__thread struct thread_notes thread_notes;

static int setup(void **state)
{
	struct ring_header *ring =
		aligned_alloc(4096, RING_HEADER_BYTES + (size_t)WORDS * sizeof(u64));

	memset(ring, 0, RING_HEADER_BYTES + (size_t)WORDS * sizeof(u64));
	ring->word_count = own_ring.terms.word_count = WORDS;
	memset(sent_stacks, 0, sizeof sent_stacks);
	*state = ring;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void emit(struct ring_header *ring, u64 frame)
{
	u64 frames[2] = { frame, 0x1000 };
	const struct walk walk = {
		.frames = frames, .count = 2, .leaf = 0x2000, .epoch = ring->epoch
	};

	emit_sample(ring, &walk, &(struct sample_time){ .weight_ns = 1 });
}

/* The stacks in the ring, and the hash the last sample names. */
struct written {
	u32 stacks, samples;
	u64 last_hash;
};

static struct written look(struct ring_header *ring)
{
	struct written written = { 0 };
	u64 words[16];

	for (u64 position = 0; position < ring->head;) {
		const u64 count =
			ring_peek(ring_words(ring), WORDS, position, ring->head, words, 16);

		assert_int_not_equal(count, 0);
		position += count;
		if ((words[0] >> 16 & 0xff) == RING_STACK) {
			written.stacks++;
		} else {
			written.samples++;
			written.last_hash = words[3];
		}
	}
	return written;
}

static void a_stack_is_sent_once_in_an_epoch(void **state)
{
	struct ring_header *ring = *state;

	for (int i = 0; i < 10; i++)
		emit(ring, 0x500);
	const struct written written = look(ring);

	assert_int_equal(written.stacks, 1);
	assert_int_equal(written.samples, 10);
	assert_int_not_equal(written.last_hash, 0);
}

static void another_epoch_sends_it_anew_by_another_hash(void **state)
{
	struct ring_header *ring = *state;

	emit(ring, 0x500);
	const u64 first_hash = look(ring).last_hash;

	/* 128 epochs later the table's tags are the same again, the hashes are not. */
	for (u64 epoch = 1; epoch < 300; epoch++) {
		ring->epoch = epoch << 32;
		emit(ring, 0x500);
		emit(ring, 0x500);
		assert_int_equal(look(ring).stacks, epoch + 1);
		assert_int_not_equal(look(ring).last_hash, first_hash);
	}
}

static void a_child_of_fork_sends_what_its_parent_sent(void **state)
{
	struct ring_header *ring = *state;

	ring->epoch = 5; /* the image's number, by which a parent and a child differ */
	emit(ring, 0x500);
	ring->epoch = 6;
	emit(ring, 0x500);
	assert_int_equal(look(ring).stacks, 2);
}

static void a_table_full_of_an_older_epoch_takes_in_this_one(void **state)
{
	struct ring_header *ring = *state;
	const u64 stacks = 1000;

	for (u32 i = 0; i < SENT_STACKS; i++)
		sent_stacks[i] = sent_hash((u64)i << 8, ring->epoch);
	ring->epoch = 1ULL << 32;
	for (u64 turn = 0; turn < 2; turn++) {
		for (u64 i = 0; i < stacks; i++)
			emit(ring, 0x500 + i);
	}
	assert_int_equal(look(ring).stacks, stacks);
}

static void a_full_ring_counts_what_is_lost(void **state)
{
	struct ring_header *ring = *state;

	ring->head = WORDS;
	emit(ring, 0x500);
	emit(ring, 0x500);
	assert_int_equal(ring->lost_samples, 2);
	ring->tail = WORDS;
	emit(ring, 0x500);
	assert_int_equal(ring->lost_samples, 2);
	assert_int_equal(ring->head, WORDS + RING_WORDS(struct ring_stack) + 2 +
					     RING_WORDS(struct ring_sample));
}

/* What the last sample in the ring says of those before it. */
static bool last_is_behind_lost(struct ring_header *ring)
{
	const u64 position = ring->head - RING_WORDS(struct ring_sample);
	const u64 what = ring_words(ring)[(position + 1) & (WORDS - 1)];

	return (what >> 40 & RING_SAMPLE_BEHIND_LOST) != 0;
}

static void the_sample_behind_lost_ones_says_so(void **state)
{
	struct ring_header *ring = *state;

	emit(ring, 0x500);
	assert_false(last_is_behind_lost(ring));
	ring->head = ring->tail = WORDS;
	ring->tail = 0;
	emit(ring, 0x500);
	emit(ring, 0x500);
	assert_int_equal(ring->lost_ns, 2);
	ring->tail = WORDS;
	emit(ring, 0x500);
	assert_true(last_is_behind_lost(ring));
	emit(ring, 0x500);
	assert_false(last_is_behind_lost(ring));
	assert_int_equal(ring->lost_ns, 2);
}

#define WITH_RING(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RING(a_stack_is_sent_once_in_an_epoch),
		WITH_RING(another_epoch_sends_it_anew_by_another_hash),
		WITH_RING(a_child_of_fork_sends_what_its_parent_sent),
		WITH_RING(a_table_full_of_an_older_epoch_takes_in_this_one),
		WITH_RING(a_full_ring_counts_what_is_lost),
		WITH_RING(the_sample_behind_lost_ones_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
