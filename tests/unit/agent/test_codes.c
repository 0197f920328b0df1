/* Names that do not fit into the ring are sent when there is room. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The file itself: its table of what was sent is its own. */
#include "agent/core/permits.h"
#include "agent/core/own_process.h"
#include "agent/core/codes.c"

#include "agent/core/own_ring.h"
#include "abi/ring.h"
#include "agent/core/thread_notes.h"

#define WORDS 512
#define EPOCH 7

struct own_ring own_ring;
struct own_process own_process;
struct permits permits;
__thread struct thread_notes thread_notes;

static _Alignas(4096) char memory[RING_HEADER_BYTES + WORDS * sizeof(u64)];

const struct mechanism *const mechanisms[] = { NULL };

/* No name has a table of lines here. */
int memory_read_unbounded(struct mem *mem, void *dst, u32 len, u64 addr)
{
	(void)mem;
	(void)dst;
	(void)len;
	(void)addr;
	return -1;
}

static bool send(struct ring_header *ring, u64 key)
{
	static struct name_text name, empty;

	memset(name.bytes, 'n', 100);
	name.length = 100;
	return codes_send(ring, EPOCH, NULL,
			  &(struct code){ .key = key,
					  .kind = RING_CODE_PYTHON,
					  .name = &name,
					  .qualified = &empty,
					  .file = &empty });
}

static void a_name_without_room_is_sent_later(void **state)
{
	struct ring_header *ring = (struct ring_header *)memory;
	u64 sent = 1;

	(void)state;
	own_ring.terms.word_count = WORDS;
	while (send(ring, sent))
		sent++;
	assert_in_range(sent, 2, WORDS);
	const u64 head = ring->head;

	assert_false(send(ring, sent));
	assert_false(codes_has_sent(sent, EPOCH));
	assert_int_equal(ring->head, head);
	assert_true(codes_has_sent(sent - 1, EPOCH));
	ring->tail = ring->head;
	assert_true(send(ring, sent));
	assert_true(codes_has_sent(sent, EPOCH));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_without_room_is_sent_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
