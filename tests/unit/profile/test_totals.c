#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "made.h"
#include "profile/totals.h"

struct expected {
	const char *function;
	uint64_t self_ns, total_ns;
};

/* Checks every function of the profile, so a case lists them all. */
static void assert_totals(const struct made *made, const struct expected *expected,
			  size_t count)
{
	struct totals totals;
	uint64_t self_ns = 0;

	totals_by_function(made->profile, NULL, &totals);
	assert_int_equal(totals.count, count);
	for (size_t i = 0; i < count; i++) {
		struct function_id id = made_function(made, expected[i].function);
		const struct cost *cost = &totals.rows[id.n - 1];
		if (cost->self_ns != expected[i].self_ns ||
		    cost->total_ns != expected[i].total_ns)
			fail_msg("%s: self %lu, total %lu", expected[i].function,
				 (unsigned long)cost->self_ns, (unsigned long)cost->total_ns);
		self_ns += cost->self_ns;
	}
	assert_true(self_ns == totals.ns);
	assert_false(totals.is_saturated);
	totals_done(&totals);
}

#define ASSERT_TOTALS(made, ...)                                         \
	assert_totals(made, (const struct expected[]){ __VA_ARGS__ },    \
		      sizeof((const struct expected[]){ __VA_ARGS__ }) / \
			      sizeof(struct expected))

static void an_empty_profile_has_no_time(void **state)
{
	struct made made;
	struct totals totals;

	(void)state;
	made_init(&made);
	totals_by_function(made.profile, NULL, &totals);
	assert_int_equal(totals.count, 0);
	assert_int_equal(totals.ns, 0);
	assert_int_equal(totals.samples, 0);
	totals_done(&totals);
	made_done(&made);
}

static void one_sample_counts_for_its_whole_stack(void **state)
{
	struct made made;
	struct totals totals;

	(void)state;
	made_init(&made);
	made_add(&made, "main;f", 1000, 1);
	ASSERT_TOTALS(&made, { "main", 0, 1000 }, { "f", 1000, 1000 });
	totals_by_function(made.profile, NULL, &totals);
	assert_int_equal(totals.rows[0].self_samples, 0);
	assert_int_equal(totals.rows[0].total_samples, 1);
	assert_int_equal(totals.rows[1].self_samples, 1);
	totals_done(&totals);
	made_done(&made);
}

static void time_on_an_inner_node_of_the_tree_counts(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main", 1, 1);
	made_add(&made, "main;f", 10, 1);
	made_add(&made, "main;f;g", 100, 1);
	made_add(&made, "main;g", 1000, 1);
	ASSERT_TOTALS(&made, { "main", 1, 1111 }, { "f", 10, 110 }, { "g", 1100, 1100 });
	made_done(&made);
}

static void recursion_counts_once_in_totals(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;fib", 1, 1);
	made_add(&made, "main;fib;fib", 10, 1);
	made_add(&made, "main;fib;fib;fib", 100, 1);
	made_add(&made, "main;other;fib", 1000, 1);
	ASSERT_TOTALS(&made, { "main", 0, 1111 }, { "fib", 1111, 1111 }, { "other", 0, 1000 });
	made_done(&made);
}

static void mutual_recursion_counts_once_in_totals(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;even", 1, 1);
	made_add(&made, "main;even;odd", 10, 1);
	made_add(&made, "main;even;odd;even", 100, 1);
	made_add(&made, "main;even;odd;even;odd;leaf", 1000, 1);
	made_add(&made, "main;odd;even", 10000, 1);
	ASSERT_TOTALS(&made, { "main", 0, 11111 }, { "even", 10101, 11111 },
		      { "odd", 10, 11110 }, { "leaf", 1000, 1000 });
	made_done(&made);
}

static void one_function_at_many_lines_is_still_one(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main+3;f+7;f+9", 10, 1);
	made_add(&made, "main+4;f+8", 100, 1);
	ASSERT_TOTALS(&made, { "main", 0, 110 }, { "f", 110, 110 });
	made_done(&made);
}

static void inlined_calls_are_functions_of_their_own(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;~inner", 10, 1);
	made_add(&made, "main;~inner;~innermost", 100, 1);
	made_add(&made, "main;inner", 1000, 1);
	made_add(&made, "main;~inner;inner", 10000, 1);
	ASSERT_TOTALS(&made, { "main", 0, 11110 }, { "inner", 11010, 11110 },
		      { "innermost", 100, 100 });
	made_done(&made);
}

static void threads_are_summed(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;f", 10, 1);
	made_begin_thread(&made, 101, "worker");
	made_add(&made, "start;f", 100, 1);
	ASSERT_TOTALS(&made, { "main", 0, 10 }, { "start", 0, 100 }, { "f", 110, 110 });
	made_done(&made);
}

static void sums_that_do_not_fit_stay_at_the_largest_and_say_so(void **state)
{
	struct made made;
	struct totals totals;

	(void)state;
	made_init(&made);
	made_add(&made, "main;f", UINT64_MAX, 1);
	made_add(&made, "main;g", 5, 1);
	assert_false(profile_is_saturated(made.profile));
	totals_by_function(made.profile, NULL, &totals);
	assert_true(totals.is_saturated);
	assert_true(totals.rows[0].total_ns == UINT64_MAX);
	assert_true(totals.ns == UINT64_MAX);
	assert_int_equal(totals.rows[2].self_ns, 5);
	totals_done(&totals);
	made_done(&made);
}

static void the_largest_sum_that_fits_is_exact(void **state)
{
	struct made made;
	struct totals totals;

	(void)state;
	made_init(&made);
	made_add(&made, "main;f", UINT64_MAX - 5, 1);
	made_add(&made, "main;g", 5, 1);
	totals_by_function(made.profile, NULL, &totals);
	assert_false(totals.is_saturated);
	assert_true(totals.ns == UINT64_MAX);
	totals_done(&totals);
	made_done(&made);
}

/* A stack as deep as no recursion on the machine's own stack could follow. */
static void a_million_frames_deep_is_not_too_deep(void **state)
{
	enum { DEPTH = 1000000 };
	struct made made;
	struct totals totals;
	struct stack_id stack = { 0 };

	(void)state;
	made_init(&made);
	struct function_id f =
		profile_add_function(made.profile, &(struct function){ .name = "f" });
	struct frame_id frame =
		profile_add_frame(made.profile, &(struct frame){ .function = f });
	for (int i = 0; i < DEPTH; i++)
		stack = profile_add_stack(made.profile, stack, frame);
	profile_add_weight(made.profile,
			   &(struct weight){ .stack = stack, .ns = 7, .samples = 1 });
	totals_by_function(made.profile, NULL, &totals);
	assert_int_equal(totals.rows[0].self_ns, 7);
	assert_int_equal(totals.rows[0].total_ns, 7);
	totals_done(&totals);
	made_done(&made);
}

/* A fixed series of numbers (Knuth's MMIX generator), so that every run is the same. */
static uint32_t next_number(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

enum { FUNCTIONS = 12, STACKS = 2000 };

static void make_tangle(struct profile *p, uint64_t seed)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[16];
		snprintf(name, sizeof name, "f%u", i);
		struct function_id id =
			profile_add_function(p, &(struct function){ .name = name });
		profile_add_frame(p, &(struct frame){ .function = id });
	}
	for (int i = 0; i < STACKS; i++) {
		uint32_t count = (uint32_t)profile_stack_count(p);
		struct stack_id parent = { count ? next_number(&seed) % (count + 1) : 0 };
		struct frame_id frame = { next_number(&seed) % FUNCTIONS + 1 };
		struct stack_id stack = profile_add_stack(p, parent, frame);
		if (next_number(&seed) % 3 > 0)
			profile_add_weight(p, &(struct weight){ .stack = stack,
								.ns = next_number(&seed),
								.samples = 1 });
	}
}

/* By definition: each weight, once for each function on its stack. */
static uint64_t total_by_hand(const struct profile *p, uint32_t function)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < profile_weight_count(p); i++) {
		const struct weight *weight = profile_get_weight(p, i);
		const struct stack *stack = profile_get_stack(p, weight->stack);
		while (stack && stack->frame.n != function)
			stack = profile_get_stack(p, stack->parent);
		ns += stack ? weight->ns : 0;
	}
	return ns;
}

static void totals_agree_with_going_through_every_stack(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct profile *p = profile_new();
		struct totals totals;
		make_tangle(p, seed);
		totals_by_function(p, NULL, &totals);
		for (uint32_t i = 1; i <= FUNCTIONS; i++)
			assert_true(totals.rows[i - 1].total_ns == total_by_hand(p, i));
		totals_done(&totals);
		profile_free(p);
	}
}

static void calls_of_a_function_within_itself_are_not_primitive(void **state)
{
	struct made made;
	struct totals totals;

	(void)state;
	made_init(&made);
	made_add_calls(&made, "main", 1, 1);
	made_add_calls(&made, "main;fact", 1, 2);
	made_add_calls(&made, "main;fact;fact", 1, 30);
	made_add_calls(&made, "main;fact;fact;len", 1, 7);
	made_add_calls(&made, "main;even", 1, 1);
	made_add_calls(&made, "main;even;odd", 1, 5);
	made_add_calls(&made, "main;even;odd;even", 1, 4);
	totals_by_function(made.profile, NULL, &totals);
	const struct cost *fact = &totals.rows[made_function(&made, "fact").n - 1];
	const struct cost *even = &totals.rows[made_function(&made, "even").n - 1];
	const struct cost *odd = &totals.rows[made_function(&made, "odd").n - 1];

	assert_int_equal(fact->calls, 32);
	assert_int_equal(fact->primitive_calls, 2);
	assert_int_equal(fact->total_ns, 3);
	assert_int_equal(even->calls, 5);
	assert_int_equal(even->primitive_calls, 1);
	assert_int_equal(odd->calls, 5);
	assert_int_equal(odd->primitive_calls, 5);
	totals_done(&totals);
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_profile_has_no_time),
		cmocka_unit_test(one_sample_counts_for_its_whole_stack),
		cmocka_unit_test(time_on_an_inner_node_of_the_tree_counts),
		cmocka_unit_test(recursion_counts_once_in_totals),
		cmocka_unit_test(mutual_recursion_counts_once_in_totals),
		cmocka_unit_test(one_function_at_many_lines_is_still_one),
		cmocka_unit_test(inlined_calls_are_functions_of_their_own),
		cmocka_unit_test(threads_are_summed),
		cmocka_unit_test(calls_of_a_function_within_itself_are_not_primitive),
		cmocka_unit_test(sums_that_do_not_fit_stay_at_the_largest_and_say_so),
		cmocka_unit_test(the_largest_sum_that_fits_is_exact),
		cmocka_unit_test(a_million_frames_deep_is_not_too_deep),
		cmocka_unit_test(totals_agree_with_going_through_every_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
