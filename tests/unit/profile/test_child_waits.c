/*
 * Which waits are for child processes, on recordings of the wall clock made by hand.
 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "made.h"
#include "profile/child_waits.h"
#include "profile/info.h"

static void add_wait(struct made *made, const char *stack, enum thread_state state)
{
	profile_add_weight(made->profile, &(struct weight){ .stack = made_stack(made, stack),
							    .thread = made->thread,
							    .state = state,
							    .ns = 1000,
							    .samples = 1 });
}

static const struct {
	enum thread_state state;
	const char *call;
	bool is_for_child;
} cases[] = {
	{ THREAD_STATE_WAIT, "&wait4", true },
	{ THREAD_STATE_WAIT, "&vfork", true },
	{ THREAD_STATE_WAIT, "&rt_sigsuspend", true },
	{ THREAD_STATE_WAIT, "&futex(a thread's end)", false },
	{ THREAD_STATE_IO, "&read(a pipe)", true },
	{ THREAD_STATE_IO, "&pselect6(a pipe)", true },
	{ THREAD_STATE_IO, "&poll(12 pipes)", true },
	{ THREAD_STATE_IO, "&poll(a process)", true },
	{ THREAD_STATE_IO, "&poll(a pipe, a socket)", false },
	{ THREAD_STATE_IO, "&write(a pipe)", false },
	{ THREAD_STATE_IO, "&read(/srv/data)", false },
	{ THREAD_STATE_IO, "&epoll_wait", false },
	{ THREAD_STATE_IO, "&read", false },
	{ THREAD_STATE_SLEEP, "&nanosleep", false },
	{ THREAD_STATE_LOCK, "&futex(condition ready)", false },
	{ THREAD_STATE_RUNNING, "&wait4", false },
};
#define CASES (sizeof cases / sizeof *cases)

static void add_cases(struct made *made)
{
	made_init(made);
	profile_info(made->profile)->is_wall = true;
	for (size_t i = 0; i < CASES; i++) {
		CLEANUP(freep) char *stack = xasprintf("main;run;%s", cases[i].call);

		add_wait(made, stack, cases[i].state);
	}
}

static void pipes_and_children_are_waited_for(void **state)
{
	CLEANUP(freep) bool *found = NULL;
	struct made made;

	(void)state;
	add_cases(&made);
	made_begin_process(&made, 200, "child");
	made_begin_thread(&made, 200, "child");
	add_wait(&made, "main;&wait4", THREAD_STATE_WAIT);
	found = child_waits_find(made.profile);
	assert_non_null(found);
	assert_int_equal(profile_weight_count(made.profile), CASES + 1);
	for (size_t i = 0; i < CASES; i++) {
		if (found[i] != cases[i].is_for_child)
			fail_msg("%s", cases[i].call);
	}
	/* The child has no children in the recording. */
	assert_false(found[CASES]);
	made_done(&made);
}

static void only_children_that_are_recorded_count(void **state)
{
	struct made made;

	(void)state;
	add_cases(&made);
	assert_null(child_waits_find(made.profile));
	made_begin_process(&made, 200, "child");
	profile_info(made.profile)->is_wall = false;
	assert_null(child_waits_find(made.profile));
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipes_and_children_are_waited_for),
		cmocka_unit_test(only_children_that_are_recorded_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
