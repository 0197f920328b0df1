/* Rows of a live view: the time in all, and since the profile was read before. */
#include "cmocka_all.h"

#include <string.h>

#include "base/memory.h"
#include "made.h"
#include "view/top_rows.h"

static const struct top_row *row_of(const struct top_rows *top, const char *name)
{
	for (size_t i = 0; i < top->count; i++) {
		if (strcmp(top->rows[i].name, name) == 0)
			return &top->rows[i];
	}
	fail_msg("no row %s", name);
	return NULL;
}

/* A profile of these times of f and g, whose functions are added in either order. */
static void read_times(struct top_rows *top, uint64_t f, uint64_t g, bool is_g_first)
{
	struct made made;

	made_init(&made);
	for (int i = 0; i < 2; i++) {
		const bool is_g = (i == 0) == is_g_first;

		made_add(&made, is_g ? "main;%g@app.py:7" : "main;libz.so!f", is_g ? g : f, 1);
	}
	top_rows_read(top, made.profile);
	made_done(&made);
}

static void what_was_added_since_is_the_last(void **state)
{
	struct top_rows top = { .by = GROUP_BY_FUNCTION };

	(void)state;
	read_times(&top, 100, 50, false);
	assert_int_equal(row_of(&top, "f")->last.self_ns, 100);
	/* Another profile, with other numbers: rows are known by their names. */
	read_times(&top, 130, 90, true);
	assert_int_equal(top.last_ns, 70);
	assert_int_equal(top.all_ns, 220);
	assert_int_equal(row_of(&top, "f")->last.self_ns, 30);
	assert_int_equal(row_of(&top, "f")->all.self_ns, 130);
	assert_int_equal(row_of(&top, "g")->last.self_ns, 40);
	assert_int_equal(row_of(&top, "main")->last.total_ns, 70);
	assert_int_equal(row_of(&top, "main")->last.self_ns, 0);
	assert_string_equal(row_of(&top, "g")->place, "app.py:7");
	assert_string_equal(row_of(&top, "g")->kind, "Python");
	assert_string_equal(row_of(&top, "f")->kind, "libz.so");
	/* Nothing new, and less than before, which late names may bring: no time. */
	read_times(&top, 120, 90, true);
	assert_int_equal(row_of(&top, "f")->last.self_ns, 0);
	top_rows_done(&top);
}

static void read_waits(struct top_rows *top, uint64_t io_ns, uint64_t lock_ns)
{
	struct made made;

	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	made_add(&made, "main;%f@app.py:1", 100, 1);
	profile_add_weight(
		made.profile,
		&(struct weight){ .stack = made_stack(&made, "main;%f@app.py:1;read"),
				  .thread = made.thread,
				  .state = THREAD_STATE_IO,
				  .ns = io_ns });
	profile_add_weight(made.profile,
			   &(struct weight){ .stack = made_stack(&made, "main;futex"),
					     .thread = made.thread,
					     .state = THREAD_STATE_LOCK,
					     .ns = lock_ns });
	top_rows_read(top, made.profile);
	made_done(&made);
}

static void states_are_of_the_last_and_of_all(void **state)
{
	struct top_rows top = { .by = GROUP_BY_FUNCTION };

	(void)state;
	read_waits(&top, 300, 50);
	assert_true(top.has_states);
	read_waits(&top, 900, 60);
	assert_int_equal(row_of(&top, "f")->last_states[THREAD_STATE_IO], 600);
	assert_int_equal(row_of(&top, "f")->last_states[THREAD_STATE_RUNNING], 0);
	assert_int_equal(row_of(&top, "f")->all_states[THREAD_STATE_IO], 900);
	assert_int_equal(row_of(&top, "f")->all_states[THREAD_STATE_RUNNING], 100);
	assert_int_equal(row_of(&top, "f")->all_states[THREAD_STATE_LOCK], 0);
	assert_int_equal(row_of(&top, "main")->last_states[THREAD_STATE_LOCK], 10);
	top_rows_done(&top);
}

static void each_order_has_its_first(void **state)
{
	static const struct {
		enum top_sort sort;
		const char *first;
	} cases[] = {
		{ TOP_SORT_SELF, "g" },
		{ TOP_SORT_TOTAL, "main" },
		{ TOP_SORT_SELF_ALL, "f" },
		{ TOP_SORT_TOTAL_ALL, "main" },
	};
	struct top_rows top = { .by = GROUP_BY_FUNCTION };

	(void)state;
	read_times(&top, 1000, 50, false);
	read_times(&top, 1010, 90, false);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		top_rows_sort(&top, cases[i].sort);
		assert_string_equal(top.rows[0].name, cases[i].first);
	}
	top_rows_done(&top);
}

static void threads_have_their_numbers(void **state)
{
	struct top_rows top = { .by = GROUP_BY_THREAD };
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main", 10, 1);
	made_begin_thread(&made, 101, "worker");
	made_add(&made, "main", 30, 1);
	top_rows_read(&top, made.profile);
	assert_int_equal(top.count, 2);
	assert_string_equal(row_of(&top, "worker")->kind, "tid 101");
	assert_int_equal(row_of(&top, "worker")->last.self_ns, 30);
	made_done(&made);
	top_rows_done(&top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_since_is_the_last),
		cmocka_unit_test(states_are_of_the_last_and_of_all),
		cmocka_unit_test(each_order_has_its_first),
		cmocka_unit_test(threads_have_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
