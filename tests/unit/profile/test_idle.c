/*
 * Threads that only waited, on recordings of the wall clock made by hand.
 */
#include <stdio.h>

#include "cmocka_all.h"

#include "base/memory.h"
#include "made.h"
#include "profile/filter.h"
#include "profile/group.h"
#include "profile/group_waits.h"
#include "profile/idle.h"
#include "profile/info.h"
#include "profile/merged_threads.h"
#include "profile/thread_kinds.h"

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

static void one_line_of_a_program_is_one_place(void **state)
{
	static const struct {
		const char *stack;
		size_t threads;
	} cases[] = {
		{ "start;%serve@app.py:7;call_by_vector;poll(port 80)", 1 },
		{ "start;%other@app.py:9;call;poll(port 80)", 0 },
		{ "start;%serve@app.py:7;%more@app.py:9;call;poll(port 80)", 0 },
		{ "start;%serve@app.py:7;call;read(a pipe)", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct made made;

		made_init(&made);
		profile_info(made.profile)->is_wall = true;
		made_add(&made, "main;work", 600, 6);
		made_begin_thread(&made, 101, "server");
		add_wait(&made, "start;%serve@app.py:7;call;poll(port 80)", THREAD_STATE_IO,
			 900);
		add_wait(&made, cases[i].stack, THREAD_STATE_IO, 100);
		assert_int_equal(idle_find(made.profile).threads, cases[i].threads);
		made_done(&made);
	}
}

static void a_condition_is_one_place_by_whatever_call(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	made_add(&made, "main;work", 600, 6);
	made_begin_thread(&made, 101, "pool");
	add_wait(&made, "start;pool;cond_wait;futex(condition in pool)", THREAD_STATE_LOCK,
		 500);
	add_wait(&made, "start;pool;timed_wait;futex(condition in pool)", THREAD_STATE_LOCK,
		 500);
	/* A server's function that waits in two loops, and Ruby's two calls to sleep. */
	made_begin_thread(&made, 102, "writer");
	add_wait(&made, "start;writer+7;wait_latch;epoll_wait(Activity)", THREAD_STATE_IO, 500);
	add_wait(&made, "start;writer+9;wait_latch;epoll_wait(Activity)", THREAD_STATE_IO, 500);
	made_begin_thread(&made, 103, "reaper");
	add_wait(&made, "start;^run@a.rb:3;call;futex(sleep)", THREAD_STATE_SLEEP, 500);
	add_wait(&made, "start;^run@a.rb:3;poll;ppoll(sleep)", THREAD_STATE_SLEEP, 500);
	assert_int_equal(idle_find(made.profile).threads, 3);
	made_done(&made);
}

static void add_unread(struct made *made, enum thread_state state, uint64_t ns)
{
	profile_add_weight(made->profile,
			   &(struct weight){ .stack = made_stack(made, "[unread]"),
					     .thread = made->thread,
					     .state = state,
					     .ns = ns });
}

/* Time in which it is not known where a thread was says nothing of what it did. */
static void waits_for_a_cpu_and_unread_ones_are_left_out(void **state)
{
	static const struct {
		enum thread_state unread;
		uint64_t ns;
		bool is_idle;
	} cases[] = {
		{ THREAD_STATE_RUNNABLE, 200, true }, { THREAD_STATE_IO, 200, true },
		{ THREAD_STATE_LOCK, 200, false },    { THREAD_STATE_RUNNING, 200, false },
		{ THREAD_STATE_IO, 2000, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct made made;

		made_init(&made);
		profile_info(made.profile)->is_wall = true;
		made_add(&made, "main;work", 600, 6);
		made_begin_thread(&made, 101, "writer");
		add_wait(&made, "start;writer;epoll_wait", THREAD_STATE_IO, 1000);
		add_unread(&made, cases[i].unread, cases[i].ns);
		if ((idle_find(made.profile).threads == 1) != cases[i].is_idle)
			fail_msg("case %zu", i);
		made_done(&made);
	}
}

/* Whether a thread that waits in nothing but that call is idle, beside one that works. */
static bool is_idle(enum thread_state state, const char *call)
{
	CLEANUP(freep) char *stack = xasprintf("start;pool;%s", call);
	struct made made;
	bool found;

	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	made_add(&made, "main;work", 600, 6);
	made_begin_thread(&made, 101, "pool");
	add_wait(&made, stack, state, 1000);
	found = idle_find(made.profile).threads == 1;
	made_done(&made);
	return found;
}

static void an_answer_and_what_others_hold_is_not_waited_for_idly(void **state)
{
	static const struct {
		enum thread_state state;
		const char *call;
		bool is_idle;
	} cases[] = {
		{ THREAD_STATE_IO, "epoll_wait", true },
		{ THREAD_STATE_IO, "poll(2 sockets)", true },
		{ THREAD_STATE_IO, "poll(port 80)", true },
		{ THREAD_STATE_IO, "recvfrom(a client of port 80)", true },
		{ THREAD_STATE_IO, "accept4(connections to /run/app.sock)", true },
		{ THREAD_STATE_IO, "read(a pipe)", true },
		{ THREAD_STATE_IO, "read(a timer)", true },
		{ THREAD_STATE_IO, "epoll_wait(Client)", true },
		{ THREAD_STATE_IO, "epoll_wait(10.0.0.7:5432)", true },
		{ THREAD_STATE_IO, "io_uring_enter(a ring)", true },
		{ THREAD_STATE_IO, "recvfrom(10.0.0.7:5432)", false },
		{ THREAD_STATE_IO, "poll(10.0.0.7:5432)", false },
		{ THREAD_STATE_IO, "poll(/run/postgresql/.s.PGSQL.5432)", false },
		{ THREAD_STATE_IO, "recvfrom(a socket)", false },
		{ THREAD_STATE_IO, "read(/var/lib/x.db)", false },
		{ THREAD_STATE_IO, "fsync(/var/lib/x.db)", false },
		{ THREAD_STATE_LOCK, "futex(Queue.get at app.py:5)", true },
		{ THREAD_STATE_LOCK, "futex(condition at pool.cpp:22)", true },
		{ THREAD_STATE_LOCK, "futex(Lock at app.py:5)", false },
		{ THREAD_STATE_LOCK, "futex(mutex stats_lock)", false },
		{ THREAD_STATE_LOCK, "epoll_wait(Lock transactionid)", false },
		{ THREAD_STATE_LOCK, "futex(lock of malloc at pool.cpp:31)", false },
		{ THREAD_STATE_LOCK, "flock(/run/lock/app)", false },
		{ THREAD_STATE_LOCK, "fcntl(/var/lib/dpkg/lock)", false },
		{ THREAD_STATE_GIL, "futex(GIL)", false },
		{ THREAD_STATE_SLEEP, "clock_nanosleep", true },
		{ THREAD_STATE_WAIT, "wait4", true },
		{ THREAD_STATE_SYSCALL, "ioctl", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (is_idle(cases[i].state, cases[i].call) != cases[i].is_idle)
			fail_msg("%s", cases[i].call);
	}
}

static void the_programs_first_thread_is_if_others_are_not(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	add_wait(&made, "main;epoll_wait", THREAD_STATE_IO, 1000);
	made_begin_thread(&made, 101, "worker");
	made_add(&made, "start;work", 300, 3);
	assert_int_equal(idle_find(made.profile).threads, 1);
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

/* A proxy's first thread only waits for its workers, and these for an upstream server. */
static void event_loops_with_peers_are_not_if_nothing_else_is_busy(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	add_wait(&made, "main;rt_sigsuspend", THREAD_STATE_WAIT, 1000);
	made_begin_thread(&made, 101, "worker");
	add_wait(&made, "main;loop;epoll_wait(10.0.0.7:80)", THREAD_STATE_IO, 1000);
	made_begin_thread(&made, 102, "worker");
	add_wait(&made, "main;loop;epoll_wait", THREAD_STATE_IO, 900);
	assert_int_equal(idle_find(made.profile).threads, 2);
	assert_int_equal(idle_find(made.profile).ns, 1900);
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
	merged_threads_make(&groups, made.profile);
	assert_int_equal(groups.count, 3);
	assert_int_equal(groups.rows[0].idle, 0);
	assert_int_equal(groups.rows[1].idle, 3);
	assert_int_equal(groups.rows[1].cost.total_ns, 300);
	assert_int_equal(groups.rows[1].waits->ns[THREAD_STATE_LOCK], 300);
	assert_int_equal(groups.rows[1].waits->longest_ns, 300);
	assert_int_equal(groups.rows[2].idle, 1);
	groups_done(&groups);
	made_done(&made);
}

/* From nine of a kind on, whatever their numbers are; those of another kind have their rows. */
static void rows_of_many_threads_of_a_kind_are_one(void **state)
{
	struct groups groups;
	struct made made;
	char name[32];

	(void)state;
	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof name, "Thread-%d (handle)", 7 + i);
		made_begin_thread(&made, 101 + i, name);
		made_add(&made, "start;handle", 50, 1);
		add_wait(&made, "start;handle;futex(Lock at a.py:1)", THREAD_STATE_LOCK, 100);
	}
	made_begin_thread(&made, 120, "Thread-1 (serve)");
	made_add(&made, "start;serve", 200, 1);
	groups_make(made.profile, GROUP_BY_THREAD, NULL, &groups);
	merged_threads_make(&groups, made.profile);
	assert_int_equal(groups.count, 3);
	assert_int_equal(groups.rows[0].alike, 9);
	assert_int_equal(groups.rows[0].idle, 0);
	assert_int_equal(groups.rows[0].cost.total_ns, 1350);
	assert_int_equal(groups.rows[0].waits->ns[THREAD_STATE_LOCK], 900);
	assert_int_equal(groups.rows[1].alike, 1);
	groups_done(&groups);
	CLEANUP(thread_kinds_freep)
	struct thread_kinds *kinds = thread_kinds_new(made.profile);
	const struct thread_id first = { 2 }, second = { 3 };

	assert_int_equal(thread_kinds_of(kinds, first), thread_kinds_of(kinds, second));
	assert_string_equal(thread_kinds_name(kinds, thread_kinds_of(kinds, first)),
			    "Thread-N (handle)");
	made_done(&made);
}

static void idle_threads_are_left_out(void **state)
{
	CLEANUP(filter_freep) struct filter *filter = NULL;
	struct made made;

	(void)state;
	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	made_add(&made, "main;work", 600, 6);
	made_begin_thread(&made, 101, "pool");
	add_wait(&made, "start;pool;futex", THREAD_STATE_LOCK, 1000);
	assert_int_equal(filter_new(made.profile,
				    &(struct filter_options){ .is_without_idle = true },
				    &filter, NULL),
			 0);
	assert_int_equal(filter_kept_ns(filter), 600);
	assert_int_equal(filter_whole_ns(filter), 600);
	assert_int_equal(filter_idle(filter).threads, 1);
	assert_int_equal(filter_idle(filter).ns, 1000);
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
		cmocka_unit_test(one_line_of_a_program_is_one_place),
		cmocka_unit_test(a_condition_is_one_place_by_whatever_call),
		cmocka_unit_test(waits_for_a_cpu_and_unread_ones_are_left_out),
		cmocka_unit_test(an_answer_and_what_others_hold_is_not_waited_for_idly),
		cmocka_unit_test(the_programs_first_thread_is_not),
		cmocka_unit_test(the_programs_first_thread_is_if_others_are_not),
		cmocka_unit_test(event_loops_with_peers_are_not_if_nothing_else_is_busy),
		cmocka_unit_test(rows_of_idle_threads_at_one_place_are_one),
		cmocka_unit_test(rows_of_many_threads_of_a_kind_are_one),
		cmocka_unit_test(idle_threads_are_left_out),
		cmocka_unit_test(other_clocks_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
