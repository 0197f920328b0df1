/*
 * Threads that only waited, on recordings of the wall clock made by hand.
 */
#include "cmocka_all.h"

#include "made.h"
#include "profile/group.h"
#include "profile/group_waits.h"
#include "profile/idle.h"
#include "profile/info.h"

static void add_wait(struct made *made, const char *stack, enum thread_state state, uint64_t ns)
{
	profile_add_weight(made->profile, &(struct weight){ .stack = made_stack(made, stack),
							    .thread = made->thread,
							    .state = state,
							    .ns = ns,
							    .samples = 1 });
}

static void one_that_waits_at_one_place_is_idle(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	made_add(&made, "main;work", 600, 6);
	add_wait(&made, "main;work;read", THREAD_STATE_IO, 400);
	made_begin_thread(&made, 101, "pool");
	made_add(&made, "start;pool", 20, 1);
	add_wait(&made, "start;pool;wait", THREAD_STATE_LOCK, 980);
	/* In two places, though it waits as long. */
	made_begin_thread(&made, 102, "busy");
	add_wait(&made, "start;busy;wait", THREAD_STATE_LOCK, 500);
	add_wait(&made, "start;busy;nap", THREAD_STATE_SLEEP, 500);
	const struct idle idle = idle_find(made.profile);

	assert_int_equal(idle.threads, 1);
	assert_int_equal(idle.ns, 1000);
	made_done(&made);
}

static void the_programs_first_thread_is_not(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	add_wait(&made, "main;join", THREAD_STATE_WAIT, 1000);
	assert_int_equal(idle_find(made.profile).threads, 0);
	made_done(&made);
}

static void rows_of_idle_threads_at_one_place_are_one(void **state)
{
	struct groups groups;
	struct made made;

	(void)state;
	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	made_add(&made, "main;work", 600, 6);
	for (int i = 0; i < 3; i++) {
		made_begin_thread(&made, 101 + i, "pool");
		add_wait(&made, "start;pool;futex", THREAD_STATE_LOCK, 100);
	}
	made_begin_thread(&made, 110, "other");
	add_wait(&made, "start;other;futex", THREAD_STATE_LOCK, 50);
	groups_make(made.profile, GROUP_BY_THREAD, NULL, &groups);
	idle_merge_rows(&groups, made.profile);
	assert_int_equal(groups.count, 3);
	assert_int_equal(groups.rows[0].merged, 0);
	assert_int_equal(groups.rows[1].merged, 3);
	assert_int_equal(groups.rows[1].cost.total_ns, 300);
	assert_int_equal(groups.rows[1].waits->ns[THREAD_STATE_LOCK], 300);
	assert_int_equal(groups.rows[1].waits->longest_ns, 300);
	assert_int_equal(groups.rows[2].merged, 1);
	groups_done(&groups);
	made_done(&made);
}

static void other_clocks_have_none(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	add_wait(&made, "main;wait", THREAD_STATE_LOCK, 1000);
	assert_int_equal(idle_find(made.profile).threads, 0);
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_waits_at_one_place_is_idle),
		cmocka_unit_test(the_programs_first_thread_is_not),
		cmocka_unit_test(rows_of_idle_threads_at_one_place_are_one),
		cmocka_unit_test(other_clocks_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
