/*
 * What a thread's calls come to, on a clock made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "vantage/agent/trace/trace_map.h"
#include "vantage/agent/trace/trace_tree.h"

#define ENTRIES 16384
#define MANY    20000 /* functions that one calls */
#define KEY     0x8000000000100000ULL

struct made {
	struct tracer tracer;
	struct trace_area *area;
	u64 now, first;
};

static struct trace_entry entries[ENTRIES];

/* As trace_map.c has it, where there is memory. */
static int maps_left, maps_made;

void *trace_map(u64 bytes)
{
	if (maps_left == 0)
		return NULL;
	maps_left--;
	maps_made++;
	void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return place == MAP_FAILED ? NULL : place;
}

void trace_unmap(void *place, u64 bytes)
{
	maps_made--;
	munmap(place, bytes);
}

static int setup(void **state)
{
	static struct made made;

	made = (struct made){ .now = 1000, .first = 1000 };
	maps_left = 1;
	/* Zeros, of which a page costs memory when it is used. */
	made.area = mmap(NULL, sizeof *made.area, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made.area == MAP_FAILED)
		return -1;
	made.tracer = (struct tracer){ .area = made.area,
				       .entries = entries,
				       .top = entries,
				       .limit = entries + ENTRIES - 1,
				       .last_ticks = made.now };
	entries[0] = (struct trace_entry){ .node = trace_add_child(&made.tracer, TRACE_NO_NODE,
								   TRACE_KIND_OUTSIDE, 0,
								   TRACE_OUTSIDE) };
	*state = &made;
	return 0;
}

static int teardown(void **state)
{
	struct made *made = *state;

	trace_index_drop(&made->tracer.index);
	return munmap(made->area, sizeof *made->area) | maps_made;
}

/* As trace.c does it, but for the names. */
static u32 place(struct made *made, u64 identity)
{
	struct tracer *tracer = &made->tracer;
	const u32 parent = tracer->top->node;
	u32 node = trace_likely_child(tracer, parent, identity);

	if (node == TRACE_NO_NODE)
		node = trace_find_child(tracer, parent, identity);
	if (node == TRACE_NO_NODE &&
	    trace_node_at(tracer, parent)->depth >= trace_depth_limit(tracer))
		node = trace_find_merged(tracer, parent, identity, false);
	if (node == TRACE_NO_NODE)
		node = trace_add_child(tracer, parent, TRACE_KIND_PYTHON, identity, KEY);
	return node != TRACE_NO_NODE ? node : trace_find_merged(tracer, parent, identity, true);
}

static void enter(struct made *made, u64 function, u64 ticks)
{
	const struct trace_entry entry = { .object = function,
					   .start_ticks = made->now + ticks };

	made->now += ticks;
	trace_advance(&made->tracer, made->now);
	trace_push(&made->tracer, place(made, function), entry);
}

static void leave(struct made *made, u64 function, u64 ticks)
{
	made->now += ticks;
	trace_close(&made->tracer, function, 0, made->now);
}

static const struct trace_node *node_of(const struct made *made, u64 identity)
{
	for (u32 i = TRACE_CHUNK_NODES; i < 65536; i++) {
		if (made->area->nodes[i].identity == identity)
			return &made->area->nodes[i];
	}
	fail();
	return NULL;
}

static u64 sum(const struct made *made, u64 *out_calls, u32 *out_depth)
{
	u64 ticks = 0;

	*out_calls = 0;
	*out_depth = 0;
	for (u32 i = TRACE_CHUNK_NODES; i < TRACE_CHUNKS * TRACE_CHUNK_NODES; i++) {
		const struct trace_node *node = &made->area->nodes[i];

		if (i % TRACE_CHUNK_NODES == 0 &&
		    made->area->owners[i / TRACE_CHUNK_NODES] == 0) {
			i += TRACE_CHUNK_NODES - 1;
			continue;
		}
		ticks += node->self_ticks;
		*out_calls += node->calls;
		if (node->depth > *out_depth)
			*out_depth = node->depth;
	}
	return ticks;
}

static void time_goes_to_what_is_being_executed(void **state)
{
	struct made *made = *state;

	enter(made, 1, 5);
	enter(made, 2, 10);
	leave(made, 2, 30);
	enter(made, 2, 1);
	leave(made, 2, 20);
	leave(made, 1, 3);
	assert_int_equal(node_of(made, 1)->self_ticks, 10 + 1 + 3);
	assert_int_equal(node_of(made, 2)->self_ticks, 30 + 20);
	assert_int_equal(node_of(made, 1)->calls, 1);
	assert_int_equal(node_of(made, 2)->calls, 2);
	assert_int_equal(node_of(made, 2)->shortest_ticks, 20);
	assert_int_equal(node_of(made, 2)->longest_ticks, 30);
	assert_int_equal(node_of(made, 1)->longest_ticks, 64);
}

static void a_threads_time_is_that_from_its_first_event_to_its_last(void **state)
{
	struct made *made = *state;
	u64 calls;
	u32 depth;

	for (u64 i = 0; i < 1000; i++) {
		enter(made, 1 + i % 7, i % 11);
		if (i % 3 != 0)
			leave(made, 1 + i % 7, i % 13);
	}
	assert_int_equal(sum(made, &calls, &depth), made->now - made->first);
	assert_int_equal(calls, 1000);
}

static void an_ending_closes_what_was_not_seen_to_end(void **state)
{
	struct made *made = *state;

	enter(made, 1, 0);
	enter(made, 2, 1);
	enter(made, 3, 1);
	leave(made, 1, 1);
	assert_ptr_equal(made->tracer.top, entries);
	assert_int_equal(node_of(made, 3)->longest_ticks, 1);
	assert_int_equal(node_of(made, 1)->longest_ticks, 3);
}

static void an_ending_of_what_began_before_is_passed_over(void **state)
{
	struct made *made = *state;

	enter(made, 1, 0);
	leave(made, 9, 5);
	assert_int_equal(made->tracer.top - entries, 1);
	leave(made, 1, 5);
	assert_int_equal(node_of(made, 1)->self_ticks, 10);
}

static void a_counter_that_steps_back_costs_nothing(void **state)
{
	struct made *made = *state;

	enter(made, 1, 100);
	made->now -= 50;
	trace_close(&made->tracer, 1, 0, made->now);
	assert_int_equal(node_of(made, 1)->self_ticks, 0);
	assert_int_equal(node_of(made, 1)->longest_ticks, 0);
}

/* A CPU clock that was thought to be further than it is. */
static void time_that_was_put_down_is_not_put_down_again(void **state)
{
	struct made *made = *state;

	enter(made, 1, 0);
	leave(made, 1, 100);
	made->now -= 60;
	enter(made, 2, 0);
	leave(made, 2, 40);
	enter(made, 3, 0);
	leave(made, 3, 70);
	assert_int_equal(node_of(made, 1)->self_ticks, 100);
	assert_int_equal(node_of(made, 2)->self_ticks, 0);
	assert_int_equal(node_of(made, 3)->self_ticks, 50);
	assert_int_equal(made->tracer.last_ticks, made->now);
}

static void recursion_takes_no_more_nodes_than_the_depth_allows(void **state)
{
	struct made *made = *state;
	u64 calls;
	u32 depth;

	for (u64 i = 0; i < 5000; i++)
		enter(made, 1 + i % 2, 1);
	for (u64 i = 5000; i-- > 0;)
		leave(made, 1 + i % 2, 1);
	assert_ptr_equal(made->tracer.top, entries);
	assert_int_equal(sum(made, &calls, &depth), 10000);
	assert_int_equal(calls, 5000);
	assert_in_range(depth, TRACE_DEPTH, TRACE_DEPTH + 4);
}

static void what_is_deep_without_recursion_keeps_its_place(void **state)
{
	struct made *made = *state;
	u64 calls;
	u32 depth;

	for (u64 i = 0; i < 2 * TRACE_DEPTH; i++)
		enter(made, 1 + i, 1);
	sum(made, &calls, &depth);
	assert_int_equal(depth, 2 * TRACE_DEPTH);
}

static void a_full_table_loses_calls_and_says_how_many(void **state)
{
	struct made *made = *state;
	u64 calls;
	u32 depth;

	for (u32 i = 1; i < TRACE_CHUNKS; i++) {
		if (made->area->owners[i] == 0)
			made->area->owners[i] = 7;
	}
	for (u64 i = 1; i <= 100; i++) {
		enter(made, i, 1);
		leave(made, i, 1);
	}
	/* One chunk was there, and the root is in it. */
	for (u32 i = 1; i < TRACE_CHUNKS; i++) {
		if (made->area->owners[i] == 7)
			made->area->owners[i] = 0;
	}
	assert_int_equal(made->area->lost_calls, 100 - (TRACE_CHUNK_NODES - 1));
	assert_int_equal(sum(made, &calls, &depth), 200);
	assert_int_equal(calls, TRACE_CHUNK_NODES - 1);
}

static void calls_deeper_than_the_stack_of_entries_are_counted(void **state)
{
	struct made *made = *state;
	u64 calls;
	u32 depth;

	for (u64 i = 0; i < 2 * ENTRIES; i++)
		enter(made, 1, 1);
	for (u64 i = 0; i < 2 * ENTRIES; i++)
		leave(made, 1, 1);
	assert_ptr_equal(made->tracer.top, entries);
	assert_int_equal(sum(made, &calls, &depth), 4 * ENTRIES);
	assert_int_equal(calls, 2 * ENTRIES);
}

static void children_are_found_in_any_order(void **state)
{
	struct made *made = *state;
	u64 calls;
	u32 depth;

	for (u64 i = 0; i < 1000; i++) {
		enter(made, 1 + i * 7 % 50, 1);
		leave(made, 1 + i * 7 % 50, 1);
	}
	for (u64 identity = 1; identity <= 50; identity++)
		assert_int_equal(node_of(made, identity)->calls, 20);
	sum(made, &calls, &depth);
	assert_int_equal(depth, 1);
}

/* Of one caller, in turn: a step that is prime to their number makes it another order. */
static void call_many(struct made *made, u64 step)
{
	for (u64 i = 0; i < MANY; i++) {
		const u64 function = 1 + i * step % MANY;

		enter(made, function, 1);
		leave(made, function, 1);
	}
}

static void check_many(const struct made *made, u64 calls)
{
	for (u64 function = 1; function <= MANY; function++)
		assert_int_equal(node_of(made, function)->calls, calls);
	assert_int_equal(made->area->lost_calls, 0);
}

static u32 length_of_ring(const struct made *made, u32 parent)
{
	const u32 first = trace_node_at(&made->tracer, parent)->first_child;
	u32 child = first, length = 0;

	do {
		assert_int_equal(trace_node_at(&made->tracer, child)->parent, parent);
		child = trace_node_at(&made->tracer, child)->next_sibling;
		length++;
	} while (child != first);
	return length;
}

static void callers_of_many_functions_have_a_node_for_each(void **state)
{
	struct made *made = *state;

	call_many(made, 1);
	call_many(made, 1);
	call_many(made, 7919);
	check_many(made, 3);
	assert_int_equal(length_of_ring(made, made->tracer.top->node), MANY);
	assert_int_equal(trace_node_at(&made->tracer, made->tracer.top->node)->is_wide, 1);
	assert_int_equal(maps_made, 1);
}

static void callers_of_many_do_not_take_each_others(void **state)
{
	struct made *made = *state;

	for (u64 caller = MANY + 1; caller <= MANY + 50; caller++) {
		enter(made, caller, 1);
		for (u64 i = 0; i < 200; i++) {
			enter(made, 1 + i, 1);
			leave(made, 1 + i, 1);
		}
		assert_int_equal(length_of_ring(made, made->tracer.top->node), 200);
		leave(made, caller, 1);
	}
	assert_int_equal(length_of_ring(made, made->tracer.top->node), 50);
	assert_int_equal(node_of(made, 7)->calls, 1);
}

static void without_memory_many_are_found_all_the_same(void **state)
{
	struct made *made = *state;

	maps_left = 0;
	for (u64 i = 0; i < 3000; i++) {
		enter(made, 1 + i % 1000, 1);
		leave(made, 1 + i % 1000, 1);
	}
	assert_int_equal(node_of(made, 1000)->calls, 3);
	assert_int_equal(length_of_ring(made, made->tracer.top->node), 1000);
	assert_int_equal(trace_node_at(&made->tracer, made->tracer.top->node)->is_wide, 0);
}

/* The identities of all that are there leave the index with more entries than nodes. */
static void what_is_renamed_is_found_by_its_new_name_only(void **state)
{
	struct made *made = *state;
	const u32 root = made->tracer.top->node;

	call_many(made, 1);
	for (u64 function = 1; function <= MANY; function++) {
		const u32 node = trace_index_find(&made->tracer, root, function);

		assert_int_not_equal(node, TRACE_NO_NODE);
		trace_rename(&made->tracer, node, function + MANY);
		assert_int_equal(trace_index_find(&made->tracer, root, function),
				 TRACE_NO_NODE);
		assert_int_equal(trace_index_find(&made->tracer, root, function + MANY), node);
	}
	call_many(made, 1);
	assert_int_equal(length_of_ring(made, root), 2 * MANY);
	check_many(made, 1);
	assert_int_equal(node_of(made, 2 * MANY)->calls, 1);
}

static void what_is_called_in_turn_is_found_at_the_next_place(void **state)
{
	struct made *made = *state;
	const u32 root = made->tracer.top->node;

	call_many(made, 1);
	for (u64 function = 2; function <= MANY; function++) {
		const u32 before = trace_find_child(&made->tracer, root, function - 1);

		assert_int_equal(
			trace_node_at(&made->tracer,
				      trace_node_at(&made->tracer, before)->next_sibling)
				->identity,
			function);
		assert_int_not_equal(trace_find_child(&made->tracer, root, function),
				     TRACE_NO_NODE);
	}
}

static void what_is_nobodys_is_not_in_calls_around_it(void **state)
{
	struct made *made = *state;

	enter(made, 1, 5);
	enter(made, 2, 1);
	made->tracer.last_ticks = made->now += 1000;
	trace_leave_out_of_calls(&made->tracer, 1000);
	enter(made, 3, 3);
	leave(made, 3, 4);
	leave(made, 2, 2);
	leave(made, 1, 6);
	assert_int_equal(node_of(made, 1)->longest_ticks, 1 + 3 + 4 + 2 + 6);
	assert_int_equal(node_of(made, 2)->longest_ticks, 3 + 4 + 2);
	assert_int_equal(node_of(made, 3)->longest_ticks, 4);
}

static void what_is_not_counted_is_followed(void **state)
{
	struct made *made = *state;

	enter(made, 1, 0);
	made->tracer.is_off = 1;
	enter(made, 2, 0); /* the clock stands still, too */
	const struct trace_node *inner = trace_node_at(&made->tracer, made->tracer.top->node);

	trace_close(&made->tracer, 2, 0, made->now);
	assert_int_equal(inner->calls, 0);
	assert_int_equal(inner->self_ticks, 0);
	assert_true(inner->shortest_ticks == ~0ULL);
	made->tracer.is_off = 0;
	enter(made, 2, 5);
	assert_int_equal(inner->calls, 1);
	made->now += 7;
	trace_close(&made->tracer, 2, 0, made->now);
	assert_int_equal(inner->shortest_ticks, 7);
}

static void a_region_that_is_left_with_its_function_waits(void **state)
{
	struct made *made = *state;
	const struct trace_entry region = { .object = 77, .kind = TRACE_KIND_REGION };

	enter(made, 1, 0);
	trace_push(&made->tracer, place(made, 9), region);
	assert_int_equal(made->tracer.has_waiting, 0);
	trace_close(&made->tracer, 1, 0, made->now);
	assert_ptr_equal(made->tracer.top, made->tracer.entries);
	assert_int_equal(made->tracer.has_waiting, 1);
}

static void each_stack_of_a_thread_has_its_own_callers(void **state)
{
	struct made *made = *state;
	static struct trace_entry others[8];
	struct trace_stack main_stack,
		stack = { .entries = others, .limit = others + 7, .unstacked = 5 };

	trace_empty_stack(&made->tracer, &stack);
	enter(made, 1, 5);
	trace_switch_stack(&made->tracer, &stack, &main_stack, made->now += 10);
	enter(made, 2, 1);
	/* It is the other stack's: nothing here ends. */
	leave(made, 1, 3);
	enter(made, 3, 4);
	trace_switch_stack(&made->tracer, &main_stack, &stack, made->now += 20);
	leave(made, 1, 7);
	assert_ptr_equal(made->tracer.top, entries);
	assert_int_equal(stack.top - stack.entries, 2);
	assert_int_equal(node_of(made, 1)->self_ticks, 10 + 7);
	assert_int_equal(node_of(made, 1)->longest_ticks, 10 + 1 + 3 + 4 + 20 + 7);
	assert_int_equal(node_of(made, 2)->self_ticks, 3 + 4);
	assert_int_equal(node_of(made, 3)->self_ticks, 20);
	assert_int_equal(node_of(made, 2)->parent, node_of(made, 1)->parent);
	assert_int_equal(node_of(made, 3)->depth, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

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
		TEST(children_are_found_in_any_order),
		TEST(callers_of_many_functions_have_a_node_for_each),
		TEST(callers_of_many_do_not_take_each_others),
		TEST(without_memory_many_are_found_all_the_same),
		TEST(what_is_renamed_is_found_by_its_new_name_only),
		TEST(what_is_called_in_turn_is_found_at_the_next_place),
		TEST(what_is_nobodys_is_not_in_calls_around_it),
		TEST(what_is_not_counted_is_followed),
		TEST(a_region_that_is_left_with_its_function_waits),
		TEST(each_stack_of_a_thread_has_its_own_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
