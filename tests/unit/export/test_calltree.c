#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/memory.h"
#include "export/calltree.h"
#include "handmade.h"
#include "profile/profile.h"

static struct profile *profile;
static struct calltree tree;

static int tear_down(void **state)
{
	(void)state;
	calltree_done(&tree);
	profile_free(profile);
	profile = NULL;
	return 0;
}

static void build(const char *name)
{
	profile = handmade_profile(name);
	calltree_init_by_function(&tree, profile, NULL);
}

static void the_root_stands_for_everything(void **state)
{
	(void)state;
	build("mixed");
	assert_int_equal(tree.node_count, 9);
	assert_int_equal(tree.nodes[0].total_ns, 12000000);
	assert_int_equal(tree.nodes[0].total_count, 10);
	assert_int_equal(tree.nodes[0].self_ns, 0);
	assert_int_equal(tree.nodes[0].end, tree.node_count);
}

static void a_subtree_is_a_run_and_its_total_the_sum_of_it(void **state)
{
	(void)state;
	build("large");
	for (uint32_t i = 0; i < tree.node_count; i += 97) {
		uint64_t sum = 0;
		for (uint32_t n = i; n < tree.nodes[i].end; n++)
			sum += tree.nodes[n].self_ns;
		assert_true(sum == tree.nodes[i].total_ns);
		if (i > 0)
			assert_true(tree.nodes[i].end <= tree.nodes[tree.nodes[i].parent].end);
	}
}

static void callers_come_before_callees_and_the_heavier_sibling_first(void **state)
{
	(void)state;
	build("large");
	for (uint32_t i = 1; i < tree.node_count; i++) {
		assert_true(tree.nodes[i].parent < i);
		uint32_t next = tree.nodes[i].end;
		if (next < tree.node_count && tree.nodes[next].parent == tree.nodes[i].parent)
			assert_true(tree.nodes[i].total_ns >= tree.nodes[next].total_ns);
	}
}

static void rows_hold_each_thread_and_node_once(void **state)
{
	uint64_t sum = 0;

	(void)state;
	build("mixed");
	for (size_t i = 0; i < tree.row_count; i++) {
		sum += tree.rows[i].ns;
		if (i == 0)
			continue;
		assert_true(tree.rows[i - 1].thread < tree.rows[i].thread ||
			    (tree.rows[i - 1].thread == tree.rows[i].thread &&
			     tree.rows[i - 1].node < tree.rows[i].node));
	}
	assert_int_equal(sum, tree.nodes[0].total_ns);
}

static void a_path_leads_from_the_outermost_caller_to_the_node(void **state)
{
	uint32_t path[4];

	(void)state;
	build("recursion");
	assert_int_equal(calltree_depth(&tree), 4);
	assert_int_equal(calltree_path(&tree, 4, path), 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(path[i], i + 1);
	assert_int_equal(calltree_path(&tree, 0, path), 0);
}

static void a_deep_stack_needs_no_deep_recursion(void **state)
{
	(void)state;
	build("deep");
	assert_int_equal(tree.node_count, 20001);
	assert_int_equal(calltree_depth(&tree), 20000);
	assert_int_equal(tree.nodes[20000].total_ns, 3000000);
	assert_int_equal(tree.nodes[1].total_ns, 4000000);
}

static void stacks_without_weight_are_left_out(void **state)
{
	(void)state;
	profile = profile_new();
	struct function_id function =
		profile_add_function(profile, &(struct function){ .name = "idle" });
	struct frame_id frame =
		profile_add_frame(profile, &(struct frame){ .function = function });
	struct stack_id stack = profile_add_stack(profile, (struct stack_id){ 0 }, frame);
	profile_add_weight(profile, &(struct weight){ .stack = stack });
	calltree_init_by_function(&tree, profile, NULL);
	assert_int_equal(tree.node_count, 1);
	assert_int_equal(tree.row_count, 0);
}

static void time_of_no_stack_is_a_node_of_its_own(void **state)
{
	(void)state;
	profile = profile_new();
	profile_add_weight(profile, &(struct weight){ .ns = 5, .samples = 1 });
	calltree_init_by_function(&tree, profile, NULL);
	assert_int_equal(tree.node_count, 2);
	assert_int_equal(tree.nodes[0].self_ns, 0);
	assert_int_equal(tree.nodes[1].self_ns, 5);
	assert_int_equal(tree.row_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_root_stands_for_everything, tear_down),
		cmocka_unit_test_teardown(a_subtree_is_a_run_and_its_total_the_sum_of_it,
					  tear_down),
		cmocka_unit_test_teardown(
			callers_come_before_callees_and_the_heavier_sibling_first, tear_down),
		cmocka_unit_test_teardown(rows_hold_each_thread_and_node_once, tear_down),
		cmocka_unit_test_teardown(a_path_leads_from_the_outermost_caller_to_the_node,
					  tear_down),
		cmocka_unit_test_teardown(a_deep_stack_needs_no_deep_recursion, tear_down),
		cmocka_unit_test_teardown(stacks_without_weight_are_left_out, tear_down),
		cmocka_unit_test_teardown(time_of_no_stack_is_a_node_of_its_own, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
