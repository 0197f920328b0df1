/* Regions of one thread: which are open, and which one ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agent/core/permits.h"
#include "agent/core/own_ring.h"
#include "agent/core/own_process.h"
#include "agent/core/regions.c"
#include "agent/core/regions_walk.c"

__thread struct thread_notes thread_notes;
struct own_ring own_ring;
struct own_process own_process;
struct permits permits;

bool codes_has_sent(u64 key, u64 epoch)
{
	(void)key;
	(void)epoch;
	return true;
}

bool codes_send(struct ring_header *ring, u64 epoch, struct mem *mem, const struct code *code)
{
	(void)ring;
	(void)epoch;
	(void)mem;
	(void)code;
	return true;
}

static u64 words[WALK_MAX_FRAMES];

static struct region_place native(u64 address)
{
	return (struct region_place){ .anchor = REGION_NATIVE,
				      .count = 1,
				      .frames[0].frame = address };
}

static struct region_place python(u64 frame, u64 code, u64 caller, u64 caller_code)
{
	return (struct region_place){ .anchor = REGION_PYTHON,
				      .count = caller != 0 ? 2 : 1,
				      .frames = { { frame, code }, { caller, caller_code } } };
}

static const struct region *begin(const char *name, struct region_place place)
{
	return regions_begin(&place, name, strlen(name));
}

static u64 end(const char *name, struct region_place place)
{
	return regions_end(&place, name, strlen(name));
}

static u64 word(const char *name)
{
	return key_of(name, strlen(name)) | RING_NO_INSTRUCTION;
}

static void begin_walk(struct walk *walk)
{
	*walk = (struct walk){ .frames = words, .leaf = 0x1000 };
	regions_begin_walk(walk);
}

static void they_end_in_whatever_order_they_are_ended(void **state)
{
	(void)state;
	const u64 first = begin("first", native(100))->serial;
	const u64 second = begin("second", native(100))->serial;

	assert_int_equal(end("first", native(100)), first);
	assert_int_equal(regions_own->count, 1);
	assert_int_equal(regions_own->open[0].serial, second);
	assert_int_equal(end("first", native(100)), 0);
	assert_int_equal(end("second", native(7)), second);
	assert_null(regions_own);
}

static void of_two_with_one_name_the_one_of_the_frame_ends(void **state)
{
	(void)state;
	const u64 mine = begin("request", python(1, 2, 0, 0))->serial;
	const u64 others = begin("request", python(3, 2, 0, 0))->serial;

	assert_int_equal(end("request", python(1, 2, 0, 0)), mine);
	assert_int_equal(end("request", python(9, 9, 0, 0)), others);
	assert_null(regions_own);
}

static void what_has_no_room_is_counted_so_that_the_rest_end_right(void **state)
{
	(void)state;
	const u64 outermost = begin("outermost", native(1))->serial;

	for (u32 i = 1; i < REGIONS_OPEN + 10; i++)
		begin("deep", native(1));
	assert_null(begin("deep", native(1)));
	assert_int_equal(end("deep", native(1)), 0);
	for (u32 i = 0; i < 10; i++)
		assert_int_equal(end("deep", native(1)), 0);
	for (u32 i = 1; i < REGIONS_OPEN; i++)
		assert_int_not_equal(end("deep", native(1)), 0);
	assert_int_equal(regions_own->count, 1);
	assert_int_equal(end("outermost", native(1)), outermost);
	assert_null(regions_own);
}

static void a_long_name_is_cut_between_characters(void **state)
{
	char name[REGION_NAME_MAX + 2] = { 0 };

	(void)state;
	memset(name, 'x', sizeof name - 1);
	name[REGION_NAME_MAX - 1] = (char)0xc3;
	name[REGION_NAME_MAX] = (char)0xa4;
	const struct region *region = begin(name, native(1));

	assert_int_equal(region->name->text.length,
			 strlen("[region ") + REGION_NAME_MAX - 1 + strlen("]"));
	assert_int_not_equal(end(name, native(1)), 0);
}

static void too_many_names_share_one(void **state)
{
	const struct region_name *last = NULL;

	(void)state;
	for (u32 i = 0; i < 2 * NAMES; i++) {
		char name[4] = { (char)('a' + i % 26), (char)('a' + i / 26 % 26),
				 (char)('a' + i / 676), 0 };

		last = begin(name, native(1))->name;
		assert_int_not_equal(end(name, native(1)), 0);
	}
	assert_non_null(last);
	assert_null(regions_own);
	memset(shared.name_states, 0, sizeof shared.name_states);
}

static void a_native_region_is_inside_of_the_frame_that_has_its_address(void **state)
{
	struct walk walk;

	(void)state;
	begin("outer", native(150));
	begin("inner", native(150));
	begin_walk(&walk);
	regions_meet_native(&walk, 50, 100, true);
	walk_push(&walk, 0x2000);
	regions_meet_native(&walk, 100, 200, false);
	regions_end_walk(&walk);
	assert_int_equal(walk.count, 3);
	assert_int_equal(words[0], word("inner"));
	assert_int_equal(words[1], word("outer"));
	assert_int_equal(words[2], 0x2000);
	assert_int_equal(walk.leaf, 0x1000);
	end("inner", native(150));
	end("outer", native(150));
}

static void in_the_leaf_the_innermost_region_is_the_leaf(void **state)
{
	struct walk walk;

	(void)state;
	begin("outer", native(60));
	begin("inner", native(60));
	begin_walk(&walk);
	regions_meet_native(&walk, 50, 100, true);
	regions_end_walk(&walk);
	assert_int_equal(walk.leaf, word("inner"));
	assert_int_equal(walk.count, 2);
	assert_int_equal(words[0], word("outer"));
	assert_int_equal(words[1], 0x1000);
	end("inner", native(60));
	end("outer", native(60));
}

static void a_python_region_knows_its_frame_by_address_and_code(void **state)
{
	struct walk walk;

	(void)state;
	begin("load", python(1, 2, 5, 6));
	begin_walk(&walk);
	regions_meet_python(&walk, 1, 3); /* another function's, where that one's was */
	assert_int_equal(walk.count, 0);
	regions_meet_python(&walk, 5, 6); /* its caller */
	assert_int_equal(walk.count, 1);
	regions_meet_python(&walk, 1, 2); /* once is enough */
	assert_int_equal(walk.count, 1);
	end("load", python(1, 2, 5, 6));
}

static void one_that_is_not_on_a_whole_stack_is_not_shown(void **state)
{
	struct walk walk;

	(void)state;
	begin("waits", python(1, 2, 0, 0));
	begin_walk(&walk);
	walk.status = WALK_COMPLETE;
	regions_end_walk(&walk);
	assert_int_equal(walk.count, 0);
	begin_walk(&walk);
	walk.status = WALK_TOO_DEEP;
	regions_end_walk(&walk);
	assert_int_equal(walk.count, 1);
	assert_int_equal(words[0], word("waits"));
	end("waits", python(1, 2, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_end_in_whatever_order_they_are_ended),
		cmocka_unit_test(of_two_with_one_name_the_one_of_the_frame_ends),
		cmocka_unit_test(what_has_no_room_is_counted_so_that_the_rest_end_right),
		cmocka_unit_test(a_long_name_is_cut_between_characters),
		cmocka_unit_test(too_many_names_share_one),
		cmocka_unit_test(a_native_region_is_inside_of_the_frame_that_has_its_address),
		cmocka_unit_test(in_the_leaf_the_innermost_region_is_the_leaf),
		cmocka_unit_test(a_python_region_knows_its_frame_by_address_and_code),
		cmocka_unit_test(one_that_is_not_on_a_whole_stack_is_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
