/*
 * Callees of one caller, few or many, are found among its children.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_tree.h"

#define MANY 10000 /* functions that one calls */

static void children_are_found_in_any_order(void **state)
{
	struct made_tree *made = *state;
	u64 calls;
	u32 depth;

	for (u64 i = 0; i < 1000; i++) {
		made_tree_enter(made, 1 + i * 7 % 50, 1);
		made_tree_leave(made, 1 + i * 7 % 50, 1);
	}
	for (u64 identity = 1; identity <= 50; identity++)
		assert_int_equal(made_tree_node(made, identity)->calls, 20);
	made_tree_sum(made, &calls, &depth);
	assert_int_equal(depth, 1);
}

/* Of one caller, in turn: a step that is prime to their number makes it another order. */
static void call_many(struct made_tree *made, u64 step)
{
	for (u64 i = 0; i < MANY; i++) {
		const u64 function = 1 + i * step % MANY;

		made_tree_enter(made, function, 1);
		made_tree_leave(made, function, 1);
	}
}

static void check_many(const struct made_tree *made, u64 calls)
{
	for (u64 function = 1; function <= MANY; function++)
		assert_int_equal(made_tree_node(made, function)->calls, calls);
	assert_int_equal(made->area->lost_calls, 0);
}

static u32 length_of_ring(const struct made_tree *made, u32 parent)
{
	const u32 first = trace_node_at(&made->calls, parent)->first_child;
	u32 child = first, length = 0;

	do {
		assert_int_equal(trace_node_at(&made->calls, child)->parent, parent);
		child = trace_node_at(&made->calls, child)->next_sibling;
		length++;
	} while (child != first);
	return length;
}

static void callers_of_many_functions_have_a_node_for_each(void **state)
{
	struct made_tree *made = *state;

	call_many(made, 1);
	call_many(made, 1);
	call_many(made, 7919);
	check_many(made, 3);
	assert_int_equal(length_of_ring(made, made->calls.top->node), MANY);
	assert_int_equal(trace_node_at(&made->calls, made->calls.top->node)->is_wide, 1);
	assert_int_equal(made->maps_made, 1);
}

static void callers_of_many_do_not_take_each_others(void **state)
{
	struct made_tree *made = *state;

	for (u64 caller = MANY + 1; caller <= MANY + 50; caller++) {
		made_tree_enter(made, caller, 1);
		for (u64 i = 0; i < 200; i++) {
			made_tree_enter(made, 1 + i, 1);
			made_tree_leave(made, 1 + i, 1);
		}
		assert_int_equal(length_of_ring(made, made->calls.top->node), 200);
		made_tree_leave(made, caller, 1);
	}
	assert_int_equal(length_of_ring(made, made->calls.top->node), 50);
	assert_int_equal(made_tree_node(made, 7)->calls, 1);
}

static void without_memory_many_are_found_all_the_same(void **state)
{
	struct made_tree *made = *state;

	made->maps_left = 0;
	for (u64 i = 0; i < 3000; i++) {
		made_tree_enter(made, 1 + i % 1000, 1);
		made_tree_leave(made, 1 + i % 1000, 1);
	}
	assert_int_equal(made_tree_node(made, 1000)->calls, 3);
	assert_int_equal(length_of_ring(made, made->calls.top->node), 1000);
	assert_int_equal(trace_node_at(&made->calls, made->calls.top->node)->is_wide, 0);
}

/* The identities of all that are there leave the index with more entries than nodes. */
static void what_is_renamed_is_found_by_its_new_name_only(void **state)
{
	struct made_tree *made = *state;
	const u32 root = made->calls.top->node;

	call_many(made, 1);
	for (u64 function = 1; function <= MANY; function++) {
		const u32 node = trace_index_find(&made->calls, root, function);

		assert_int_not_equal(node, TRACE_NO_NODE);
		trace_rename(&made->calls, node, function + MANY);
		assert_int_equal(trace_index_find(&made->calls, root, function), TRACE_NO_NODE);
		assert_int_equal(trace_index_find(&made->calls, root, function + MANY), node);
	}
	call_many(made, 1);
	assert_int_equal(length_of_ring(made, root), 2 * MANY);
	check_many(made, 1);
	assert_int_equal(made_tree_node(made, 2 * MANY)->calls, 1);
}

static void what_is_called_in_turn_is_found_at_the_next_place(void **state)
{
	struct made_tree *made = *state;
	const u32 root = made->calls.top->node;

	call_many(made, 1);
	for (u64 function = 2; function <= MANY; function++) {
		const u32 before = trace_find_child(&made->calls, root, function - 1);

		assert_int_equal(
			trace_node_at(&made->calls,
				      trace_node_at(&made->calls, before)->next_sibling)
				->identity,
			function);
		assert_int_not_equal(trace_find_child(&made->calls, root, function),
				     TRACE_NO_NODE);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, made_tree_setup, made_tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(children_are_found_in_any_order),
		TEST(callers_of_many_functions_have_a_node_for_each),
		TEST(callers_of_many_do_not_take_each_others),
		TEST(without_memory_many_are_found_all_the_same),
		TEST(what_is_renamed_is_found_by_its_new_name_only),
		TEST(what_is_called_in_turn_is_found_at_the_next_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
