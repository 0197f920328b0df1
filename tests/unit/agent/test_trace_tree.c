/*
 * What a thread's calls come to, on a clock made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_tree.h"

static void time_goes_to_what_is_being_executed(void **state)
{
	struct made_tree *made = *state;

	made_tree_enter(made, 1, 5);
	made_tree_enter(made, 2, 10);
	made_tree_leave(made, 2, 30);
	made_tree_enter(made, 2, 1);
	made_tree_leave(made, 2, 20);
	made_tree_leave(made, 1, 3);
	assert_int_equal(made_tree_node(made, 1)->self_ticks, 10 + 1 + 3);
	assert_int_equal(made_tree_node(made, 2)->self_ticks, 30 + 20);
	assert_int_equal(made_tree_node(made, 1)->calls, 1);
	assert_int_equal(made_tree_node(made, 2)->calls, 2);
	assert_int_equal(made_tree_node(made, 2)->shortest_ticks, 20);
	assert_int_equal(made_tree_node(made, 2)->longest_ticks, 30);
	assert_int_equal(made_tree_node(made, 1)->longest_ticks, 64);
}

static void a_threads_time_is_that_from_its_first_event_to_its_last(void **state)
{
	struct made_tree *made = *state;
	u64 calls;
	u32 depth;

	for (u64 i = 0; i < 1000; i++) {
		made_tree_enter(made, 1 + i % 7, i % 11);
		if (i % 3 != 0)
			made_tree_leave(made, 1 + i % 7, i % 13);
	}
	assert_int_equal(made_tree_sum(made, &calls, &depth), made->now - made->first);
	assert_int_equal(calls, 1000);
}

static void an_ending_closes_what_was_not_seen_to_end(void **state)
{
	struct made_tree *made = *state;

	made_tree_enter(made, 1, 0);
	made_tree_enter(made, 2, 1);
	made_tree_enter(made, 3, 1);
	made_tree_leave(made, 1, 1);
	assert_ptr_equal(made->calls.top, made->entries);
	assert_int_equal(made_tree_node(made, 3)->longest_ticks, 1);
	assert_int_equal(made_tree_node(made, 1)->longest_ticks, 3);
}

static void an_ending_of_what_began_before_is_passed_over(void **state)
{
	struct made_tree *made = *state;

	made_tree_enter(made, 1, 0);
	made_tree_leave(made, 9, 5);
	assert_int_equal(made->calls.top - made->entries, 1);
	made_tree_leave(made, 1, 5);
	assert_int_equal(made_tree_node(made, 1)->self_ticks, 10);
}

static void a_counter_that_steps_back_costs_nothing(void **state)
{
	struct made_tree *made = *state;

	made_tree_enter(made, 1, 100);
	made->now -= 50;
	trace_close(&made->calls, 1, 0, made->now);
	assert_int_equal(made_tree_node(made, 1)->self_ticks, 0);
	assert_int_equal(made_tree_node(made, 1)->longest_ticks, 0);
}

/* A CPU clock that was thought to be further than it is. */
static void time_that_was_put_down_is_not_put_down_again(void **state)
{
	struct made_tree *made = *state;

	made_tree_enter(made, 1, 0);
	made_tree_leave(made, 1, 100);
	made->now -= 60;
	made_tree_enter(made, 2, 0);
	made_tree_leave(made, 2, 40);
	made_tree_enter(made, 3, 0);
	made_tree_leave(made, 3, 70);
	assert_int_equal(made_tree_node(made, 1)->self_ticks, 100);
	assert_int_equal(made_tree_node(made, 2)->self_ticks, 0);
	assert_int_equal(made_tree_node(made, 3)->self_ticks, 50);
	assert_int_equal(made->calls.last_ticks, made->now);
}

static void recursion_takes_no_more_nodes_than_the_depth_allows(void **state)
{
	struct made_tree *made = *state;
	u64 calls;
	u32 depth;

	for (u64 i = 0; i < 5000; i++)
		made_tree_enter(made, 1 + i % 2, 1);
	for (u64 i = 5000; i-- > 0;)
		made_tree_leave(made, 1 + i % 2, 1);
	assert_ptr_equal(made->calls.top, made->entries);
	assert_int_equal(made_tree_sum(made, &calls, &depth), 10000);
	assert_int_equal(calls, 5000);
	assert_in_range(depth, TRACE_DEPTH, TRACE_DEPTH + 4);
}

static void what_is_deep_without_recursion_keeps_its_place(void **state)
{
	struct made_tree *made = *state;
	u64 calls;
	u32 depth;

	for (u64 i = 0; i < 2 * TRACE_DEPTH; i++)
		made_tree_enter(made, 1 + i, 1);
	made_tree_sum(made, &calls, &depth);
	assert_int_equal(depth, 2 * TRACE_DEPTH);
}

static void a_full_table_loses_calls_and_says_how_many(void **state)
{
	struct made_tree *made = *state;
	u64 calls;
	u32 depth;

	for (u32 i = 1; i < TRACE_CHUNKS; i++) {
		if (made->area->owners[i] == 0)
			made->area->owners[i] = 7;
	}
	for (u64 i = 1; i <= 100; i++) {
		made_tree_enter(made, i, 1);
		made_tree_leave(made, i, 1);
	}
	/* One chunk was there, and the root is in it. */
	for (u32 i = 1; i < TRACE_CHUNKS; i++) {
		if (made->area->owners[i] == 7)
			made->area->owners[i] = 0;
	}
	assert_int_equal(made->area->lost_calls, 100 - (TRACE_CHUNK_NODES - 1));
	assert_int_equal(made_tree_sum(made, &calls, &depth), 200);
	assert_int_equal(calls, TRACE_CHUNK_NODES - 1);
}

static void calls_deeper_than_the_stack_of_entries_are_counted(void **state)
{
	struct made_tree *made = *state;
	u64 calls;
	u32 depth;

	for (u64 i = 0; i < 2 * MADE_TREE_ENTRIES; i++)
		made_tree_enter(made, 1, 1);
	for (u64 i = 0; i < 2 * MADE_TREE_ENTRIES; i++)
		made_tree_leave(made, 1, 1);
	assert_ptr_equal(made->calls.top, made->entries);
	assert_int_equal(made_tree_sum(made, &calls, &depth), 4 * MADE_TREE_ENTRIES);
	assert_int_equal(calls, 2 * MADE_TREE_ENTRIES);
}

static void what_is_nobodys_is_not_in_calls_around_it(void **state)
{
	struct made_tree *made = *state;

	made_tree_enter(made, 1, 5);
	made_tree_enter(made, 2, 1);
	made->calls.last_ticks = made->now += 1000;
	trace_leave_out_of_calls(&made->calls, 1000);
	made_tree_enter(made, 3, 3);
	made_tree_leave(made, 3, 4);
	made_tree_leave(made, 2, 2);
	made_tree_leave(made, 1, 6);
	assert_int_equal(made_tree_node(made, 1)->longest_ticks, 1 + 3 + 4 + 2 + 6);
	assert_int_equal(made_tree_node(made, 2)->longest_ticks, 3 + 4 + 2);
	assert_int_equal(made_tree_node(made, 3)->longest_ticks, 4);
}

static void what_is_not_counted_is_followed(void **state)
{
	struct made_tree *made = *state;

	made_tree_enter(made, 1, 0);
	made->calls.is_off = 1;
	made_tree_enter(made, 2, 0); /* the clock stands still, too */
	const struct trace_node *inner = trace_node_at(&made->calls, made->calls.top->node);

	trace_close(&made->calls, 2, 0, made->now);
	assert_int_equal(inner->calls, 0);
	assert_int_equal(inner->self_ticks, 0);
	assert_true(inner->shortest_ticks == ~0ULL);
	made->calls.is_off = 0;
	made_tree_enter(made, 2, 5);
	assert_int_equal(inner->calls, 1);
	made->now += 7;
	trace_close(&made->calls, 2, 0, made->now);
	assert_int_equal(inner->shortest_ticks, 7);
}

static void a_region_that_is_left_with_its_function_waits(void **state)
{
	struct made_tree *made = *state;
	const struct trace_entry region = { .object = 77, .kind = TRACE_KIND_REGION };

	made_tree_enter(made, 1, 0);
	trace_push(&made->calls, made_tree_place(made, 9), region);
	assert_int_equal(made->calls.has_waiting, 0);
	trace_close(&made->calls, 1, 0, made->now);
	assert_ptr_equal(made->calls.top, made->calls.entries);
	assert_int_equal(made->calls.has_waiting, 1);
}

static void each_stack_of_a_thread_has_its_own_callers(void **state)
{
	struct made_tree *made = *state;
	static struct trace_entry others[8];
	struct trace_stack main_stack,
		stack = { .entries = others, .limit = others + 7, .unstacked = 5 };

	trace_empty_stack(&made->calls, &stack);
	made_tree_enter(made, 1, 5);
	trace_switch_stack(&made->calls, &stack, &main_stack, made->now += 10);
	made_tree_enter(made, 2, 1);
	/* It is the other stack's: nothing here ends. */
	made_tree_leave(made, 1, 3);
	made_tree_enter(made, 3, 4);
	trace_switch_stack(&made->calls, &main_stack, &stack, made->now += 20);
	made_tree_leave(made, 1, 7);
	assert_ptr_equal(made->calls.top, made->entries);
	assert_int_equal(stack.top - stack.entries, 2);
	assert_int_equal(made_tree_node(made, 1)->self_ticks, 10 + 7);
	assert_int_equal(made_tree_node(made, 1)->longest_ticks, 10 + 1 + 3 + 4 + 20 + 7);
	assert_int_equal(made_tree_node(made, 2)->self_ticks, 3 + 4);
	assert_int_equal(made_tree_node(made, 3)->self_ticks, 20);
	assert_int_equal(made_tree_node(made, 2)->parent, made_tree_node(made, 1)->parent);
	assert_int_equal(made_tree_node(made, 3)->depth, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, made_tree_setup, made_tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(time_goes_to_what_is_being_executed),
		TEST(a_threads_time_is_that_from_its_first_event_to_its_last),
		TEST(an_ending_closes_what_was_not_seen_to_end),
		TEST(an_ending_of_what_began_before_is_passed_over),
		TEST(a_counter_that_steps_back_costs_nothing),
		TEST(time_that_was_put_down_is_not_put_down_again),
		TEST(recursion_takes_no_more_nodes_than_the_depth_allows),
		TEST(what_is_deep_without_recursion_keeps_its_place),
		TEST(a_full_table_loses_calls_and_says_how_many),
		TEST(calls_deeper_than_the_stack_of_entries_are_counted),
		TEST(what_is_nobodys_is_not_in_calls_around_it),
		TEST(what_is_not_counted_is_followed),
		TEST(a_region_that_is_left_with_its_function_waits),
		TEST(each_stack_of_a_thread_has_its_own_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
