#include "cmocka_all.h"

#include <string.h>

#include "base/text.h"
#include "base/memory.h"
#include "made.h"
#include "profile/filter.h"
#include "profile/find.h"
#include "profile/tree.h"

/* A tree as one line a test can state: "main 0/100 (f 30/30, g 70/70)", self/total. */
static void add_node(struct text *out, const struct made *made, const struct tree *tree,
		     uint32_t i)
{
	const struct tree_node *node = &tree->nodes[i];
	const struct function *function = profile_get_function(made->profile, node->function);

	text_addf(out, "%s %lu/%lu", function ? function->name : "root",
		  (unsigned long)node->self_ns, (unsigned long)node->total_ns);
	if (node->first_child)
		text_add(out, " (");
	for (uint32_t child = node->first_child; child;
	     child = tree->nodes[child].next_sibling) {
		add_node(out, made, tree, child);
		text_add(out, tree->nodes[child].next_sibling ? ", " : ")");
	}
}

static void assert_tree(const struct made *made, const struct tree *tree, const char *expected)
{
	struct text text = { 0 };

	add_node(&text, made, tree, 0);
	assert_string_equal(text_string(&text), expected);
	text_done(&text);
}

static void assert_top_down(const struct made *made, const char *expected)
{
	struct tree tree;

	tree_top_down(made->profile, NULL, &tree);
	assert_tree(made, &tree, expected);
	tree_done(&tree);
}

typedef void make_tree(const struct tree *top_down, const bool *is_meant, struct tree *out);

static void assert_relatives(const struct made *made, make_tree *make, const char *function,
			     const char *expected)
{
	struct tree top_down, tree;
	struct found found;

	assert_int_equal(find_functions(made->profile, function, &found, NULL), 0);
	tree_top_down(made->profile, NULL, &top_down);
	make(&top_down, found.is_meant, &tree);
	assert_tree(made, &tree, expected);
	tree_done(&tree);
	tree_done(&top_down);
	found_done(&found);
}

static void an_empty_profile_is_a_root(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	assert_top_down(&made, "root 0/0");
	made_done(&made);
}

static void children_stand_by_weight(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;f", 10, 1);
	made_add(&made, "main;g", 30, 1);
	made_add(&made, "main;h", 20, 1);
	made_add(&made, "main", 1, 1);
	assert_top_down(&made, "root 0/61 (main 1/61 (g 30/30, h 20/20, f 10/10))");
	made_done(&made);
}

static void equal_weights_stand_in_the_order_they_came(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;b", 10, 1);
	made_add(&made, "main;c", 10, 1);
	made_add(&made, "main;a", 10, 1);
	assert_top_down(&made, "root 0/30 (main 0/30 (b 10/10, c 10/10, a 10/10))");
	made_done(&made);
}

static void lines_and_threads_are_merged(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main+1;f+1", 10, 1);
	made_add(&made, "main+2;f+2", 20, 1);
	made_begin_thread(&made, 101, "worker");
	made_add(&made, "main+1;f+1", 40, 1);
	assert_top_down(&made, "root 0/70 (main 0/70 (f 70/70))");
	made_done(&made);
}

static void recursion_stays_visible_in_the_call_tree(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;fib;fib", 10, 1);
	made_add(&made, "main;fib", 5, 1);
	assert_top_down(&made, "root 0/15 (main 0/15 (fib 5/15 (fib 10/10)))");
	made_done(&made);
}

static void a_filter_leaves_the_rest_at_zero(void **state)
{
	struct made made;
	struct filter *filter;
	struct tree tree;

	(void)state;
	made_init(&made);
	made_add(&made, "main;f", 10, 1);
	made_begin_thread(&made, 101, "worker");
	made_add(&made, "main;g", 20, 1);
	assert_int_equal(filter_new(made.profile,
				    &(struct filter_options){ .thread = "worker" }, &filter,
				    NULL),
			 0);
	tree_top_down(made.profile, filter, &tree);
	assert_tree(&made, &tree, "root 0/20 (main 0/20 (g 20/20, f 0/0))");
	tree_done(&tree);
	filter_free(filter);
	made_done(&made);
}

static void two_callers_share_30_to_70(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;a;work", 20, 1);
	made_add(&made, "main;a;work;leaf", 10, 1);
	made_add(&made, "main;b;work", 70, 1);
	made_add(&made, "main;c", 900, 1);
	assert_relatives(&made, tree_callers, "work",
			 "root 0/100 (b 0/70 (main 70/70), a 0/30 (main 30/30))");
	assert_relatives(&made, tree_callees, "work", "root 90/100 (leaf 10/10)");
	assert_relatives(&made, tree_callees, "a", "root 0/30 (work 20/30 (leaf 10/10))");
	made_done(&made);
}

static void the_outermost_has_no_callers(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;f", 7, 1);
	assert_relatives(&made, tree_callers, "main", "root 7/7");
	made_done(&made);
}

static void callers_of_a_recursive_function_are_those_outside(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "a;fib;fib;fib", 30, 1);
	made_add(&made, "b;fib", 70, 1);
	assert_relatives(&made, tree_callers, "fib", "root 0/100 (b 70/70, a 30/30)");
	made_done(&made);
}

static void callees_of_a_recursive_function_add_up_to_its_total(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "a;fib;fib;add", 30, 1);
	made_add(&made, "a;fib;helper;fib;add", 40, 1);
	made_add(&made, "a;fib;helper", 5, 1);
	made_add(&made, "a;fib", 25, 1);
	made_add(&made, "a;add", 1000, 1);
	assert_relatives(&made, tree_callees, "fib", "root 25/100 (add 70/70, helper 5/5)");
	made_done(&made);
}

static void sums_that_do_not_fit_are_said(void **state)
{
	struct made made;
	struct tree tree;

	(void)state;
	made_init(&made);
	made_add(&made, "main;f", UINT64_MAX, 1);
	made_add(&made, "main;g", 1, 1);
	tree_top_down(made.profile, NULL, &tree);
	assert_true(tree.is_saturated);
	assert_true(tree.nodes[0].total_ns == UINT64_MAX);
	tree_done(&tree);
	made_done(&made);
}

static void calls_stand_on_their_paths_and_come_by_way_of_callers(void **state)
{
	struct made made;
	struct tree top_down, callers;

	(void)state;
	made_init(&made);
	made_add_calls(&made, "main", 1, 1);
	made_add_calls(&made, "main;run", 1, 2);
	made_add_calls(&made, "main;run;get", 1, 30);
	made_add_calls(&made, "main;get", 0, 4);
	tree_top_down(made.profile, NULL, &top_down);
	assert_int_equal(top_down.nodes[0].total_calls, 37);
	bool *is_meant = xzalloc((profile_function_count(made.profile) + 1) * sizeof *is_meant);

	is_meant[made_function(&made, "get").n] = true;
	tree_callers(&top_down, is_meant, &callers);
	assert_int_equal(callers.nodes[0].total_calls, 34);
	for (size_t i = 1; i < callers.count; i++) {
		const struct tree_node *node = &callers.nodes[i];

		if (node->function.n == made_function(&made, "run").n)
			assert_int_equal(node->total_calls, 30);
		else if (node->parent == 0)
			assert_int_equal(node->total_calls, 4);
	}
	freep(&is_meant);
	tree_done(&callers);
	tree_done(&top_down);
	made_done(&made);
}

/* 20 of 21 calls are its own: they are fib's, and the time is whose call was the outermost. */
static void calls_from_within_are_their_callers_without_time(void **state)
{
	struct made made;
	struct tree top_down, callers;

	(void)state;
	made_init(&made);
	made_add_calls(&made, "main", 1, 1);
	made_add_calls(&made, "main;fib", 5, 1);
	made_add_calls(&made, "main;fib;fib", 7, 2);
	made_add_calls(&made, "main;fib;fib;fib", 9, 18);
	tree_top_down(made.profile, NULL, &top_down);
	bool *is_meant = xzalloc((profile_function_count(made.profile) + 1) * sizeof *is_meant);

	is_meant[made_function(&made, "fib").n] = true;
	tree_callers(&top_down, is_meant, &callers);
	assert_int_equal(callers.count, 3);
	assert_int_equal(callers.nodes[0].total_calls, 21);
	assert_int_equal(callers.nodes[0].total_ns, 21);
	for (size_t i = 1; i < callers.count; i++) {
		const struct tree_node *node = &callers.nodes[i];
		const bool is_own = node->function.n == made_function(&made, "fib").n;

		assert_int_equal(node->total_calls, is_own ? 20 : 1);
		assert_int_equal(node->total_ns, is_own ? 0 : 21);
	}
	freep(&is_meant);
	tree_done(&callers);
	tree_done(&top_down);
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_profile_is_a_root),
		cmocka_unit_test(children_stand_by_weight),
		cmocka_unit_test(equal_weights_stand_in_the_order_they_came),
		cmocka_unit_test(lines_and_threads_are_merged),
		cmocka_unit_test(recursion_stays_visible_in_the_call_tree),
		cmocka_unit_test(a_filter_leaves_the_rest_at_zero),
		cmocka_unit_test(two_callers_share_30_to_70),
		cmocka_unit_test(the_outermost_has_no_callers),
		cmocka_unit_test(callers_of_a_recursive_function_are_those_outside),
		cmocka_unit_test(callees_of_a_recursive_function_add_up_to_its_total),
		cmocka_unit_test(sums_that_do_not_fit_are_said),
		cmocka_unit_test(calls_stand_on_their_paths_and_come_by_way_of_callers),
		cmocka_unit_test(calls_from_within_are_their_callers_without_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
