#include "cmocka_all.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "example.h"
#include "profile/blame.h"
#include "profile/info.h"
#include "report/report.h"

#define POOL "%run@/v/lib/python3.11/site-packages/waitress/pool.py:3"

static void assert_body(const struct report_options *options, const char *expected)
{
	struct made made;
	struct text text = { 0 };

	example_init_waits(&made);
	assert_int_equal(report_text(made.profile, options, &text, NULL), 0);
	assert_string_equal(strstr(text_string(&text), "\n\n") + 2, expected);
	text_done(&text);
	made_done(&made);
}

static void a_region_has_its_states_in_one_row(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .by = GROUP_BY_REGION, .width = 200 },
		    "time %     time  running  runnable    gil   lock     io   wait  region    "
		    "        waited most in\n"
		    "  76.1  1.525 s    0.003     0.004      -  1.497  0.020  0.001  [no "
		    "region]       1.497 s futex in take\n"
		    "  23.9  0.480 s    0.090         -  0.030      -  0.360      -  [region "
		    "request]  0.360 s read(a socket) in handle\n"
		    "  18.0  0.360 s        -         -      -      -  0.360      -  [region "
		    "query]    0.360 s read(a socket) in handle\n");
}

static void a_thread_has_its_states_in_one_row(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .by = GROUP_BY_THREAD,
					      .has_idle = true,
					      .width = 200 },
		    "time %    lived  running  runnable    gil   lock     io   wait  tid  "
		    "thread   waited most in\n"
		    "  25.2  0.505 s    0.090     0.004  0.030      -  0.380  0.001  101  "
		    "handler  0.360 s read(a socket) in handle\n"
		    "  24.9  0.500 s    0.001         -      -  0.499      -      -  102  pool "
		    "    0.499 s futex in take\n"
		    "  24.9  0.500 s    0.001         -      -  0.499      -      -  103  pool "
		    "    0.499 s futex in take\n"
		    "  24.9  0.500 s    0.001         -      -  0.499      -      -  104  pool "
		    "    0.499 s futex in take\n"
		    "   0.0  0.000 s        -         -      -      -      -      -  100  prog "
		    "    -\n");
}

static void idle_threads_are_one_row(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .by = GROUP_BY_THREAD, .width = 200 },
		    "time %    lived  running  runnable    gil   lock     io   wait  tid  "
		    "thread          waited most in\n"
		    "  74.8  1.500 s    0.003         -      -  1.497      -      -    -  3 "
		    "idle threads  1.497 s futex in take\n"
		    "  25.2  0.505 s    0.090     0.004  0.030      -  0.380  0.001  101  "
		    "handler         0.360 s read(a socket) in handle\n"
		    "   0.0  0.000 s        -         -      -      -      -      -  100  prog "
		    "           -\n");
}

static void rare_states_go_first_where_it_is_narrow(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .by = GROUP_BY_THREAD,
					      .has_idle = true,
					      .width = 60 },
		    "time %    lived  running   lock     io  tid  thread\n"
		    "  25.2  0.505 s    0.090      -  0.380  101  handler\n"
		    "  24.9  0.500 s    0.001  0.499      -  102  pool\n"
		    "  24.9  0.500 s    0.001  0.499      -  103  pool\n"
		    "  24.9  0.500 s    0.001  0.499      -  104  pool\n"
		    "   0.0  0.000 s        -      -      -  100  prog\n");
}

static void processes_and_programs_have_states_too(void **state)
{
	(void)state;
	assert_body(&(struct report_options){ .by = GROUP_BY_PROCESS, .width = 200 },
		    "time %    lived  running  runnable    gil   lock     io   wait  pid  "
		    "process  waited most in\n"
		    " 100.0  2.005 s    0.093     0.004  0.030  1.497  0.380  0.001  100  prog "
		    "    1.497 s futex in take\n");
	assert_body(&(struct report_options){ .by = GROUP_BY_PROGRAM, .width = 200 },
		    "time %    lived  running  runnable    gil   lock     io   wait  processes "
		    " program  waited most in\n"
		    " 100.0  2.005 s    0.093     0.004  0.030  1.497  0.380  0.001          1 "
		    " prog     1.497 s futex in take\n");
}

/* Of two waits for a CPU: beside the other thread of the recording, and beside none. */
static void a_wait_for_a_cpu_beside_none_of_its_threads_is_no_others_doing(void **state)
{
	struct made made;
	struct text text = { 0 };
	struct blame rows[2] = { { .state = THREAD_STATE_RUNNABLE, .ns = 30000000 },
				 { .state = THREAD_STATE_RUNNABLE, .ns = 500000000 } };
	struct blames blames = { .rows = rows, .count = 2 };

	(void)state;
	example_init_waits(&made);
	rows[0].waiter = rows[1].waiter = made.thread;
	rows[0].owner = (struct thread_id){ 1 };
	profile_info(made.profile)->blames = &blames;
	assert_int_equal(report_text(made.profile,
				     &(struct report_options){ .has_blame = true }, &text,
				     NULL),
			 0);
	assert_non_null(
		strstr(text_string(&text), "\n30.00 ms of waits for a CPU while other"));
	assert_non_null(strstr(text_string(&text), "\n500.0 ms of waits for a CPU while no"));
	text_done(&text);
	made_done(&made);
}

enum { SCATTERED = 20, BLAMED = SCATTERED + 3 };

static void assert_blame_says(struct made *made, const char *said)
{
	struct text text = { 0 };

	assert_int_equal(report_text(made->profile,
				     &(struct report_options){ .has_blame = true }, &text,
				     NULL),
			 0);
	if (!strstr(text_string(&text), said))
		fail_msg("%s", text_string(&text));
	text_done(&text);
}

/* A third of it in one function, the rest in twenty; and a lock whose holder was woken and has no CPU. */
static void what_ran_in_many_places_is_one_row(void **state)
{
	struct made made;
	struct blame rows[BLAMED] = { { .ns = 0 } };
	struct blames blames = { .rows = rows, .count = BLAMED };

	(void)state;
	example_init_waits(&made);
	for (uint32_t i = 0; i < BLAMED; i++) {
		CLEANUP(freep) char *name = xasprintf("compile%u", i);

		rows[i].state = THREAD_STATE_RUNNABLE;
		rows[i].ns = i == 0 ? 10000000 : 1000000;
		rows[i].owner = (struct thread_id){ 3 + i % 2 };
		rows[i].waiter = (struct thread_id){ 5 };
		rows[i].owner_stack = made_stack(&made, name);
	}
	for (uint32_t i = SCATTERED + 1; i < BLAMED; i++) {
		rows[i].state = THREAD_STATE_LOCK;
		rows[i].owner_stack =
			made_stack(&made, i == BLAMED - 1 ? "%hold@/srv/app/pool.py:9;sleep"
							  : "%hold@/srv/app/pool.py:9;"
							    "[waits for a CPU]");
		rows[i].waiter_stack = made_stack(&made, "%take@/srv/app/pool.py:3;futex");
	}
	profile_info(made.profile)->blames = &blames;
	assert_blame_says(&made, "  66.7  20.00 ms  pool ×2     code in 20 places  pool (104)\n"
				 "  33.3  10.00 ms  pool (102)  compile0");
	assert_blame_says(&made, " 100.0  2.00 ms  futex       pool ×2  hold ");
	made_done(&made);
}

enum { WAITED_IN = 150 };

/* Each has less than a per cent of what one function made wait. */
static void what_waits_in_many_places_for_one_holder_is_one_row(void **state)
{
	struct made made;
	struct blame rows[WAITED_IN] = { { .ns = 0 } };
	struct blames blames = { .rows = rows, .count = WAITED_IN };

	(void)state;
	example_init_waits(&made);
	for (uint32_t i = 0; i < WAITED_IN; i++) {
		CLEANUP(freep) char *stack = xasprintf("%%take%u@/srv/app/pool.py:3;futex", i);

		rows[i].state = THREAD_STATE_LOCK;
		rows[i].ns = 1000000;
		rows[i].owner = (struct thread_id){ 3 };
		rows[i].waiter = (struct thread_id){ 4 + i % 2 };
		rows[i].owner_stack = made_stack(&made, "%hold@/srv/app/pool.py:9;sleep");
		rows[i].waiter_stack = made_stack(&made, stack);
	}
	profile_info(made.profile)->blames = &blames;
	assert_blame_says(&made, " 100.0  150.0 ms  futex       pool (102)  hold            "
				 "2 threads  code in 150 places\n");
	made_done(&made);
}

/* A pool's threads wait for work half of their lives, and for what own code does in the other half. */
static void what_no_own_code_waits_for_comes_last(void **state)
{
	struct made made;
	struct text text = { 0 };
	const char *own, *pool;

	(void)state;
	made_init(&made);
	profile_info(made.profile)->is_wall = true;
	made_add(&made, POOL ";&futex(Queue.get at pool.py:8)", 500000000, 50);
	made_add(&made, POOL ";%handle@/srv/app.py:3;&recvfrom(10.0.0.7:80)", 400000000, 40);
	assert_int_equal(
		report_text(made.profile,
			    &(struct report_options){ .is_summary = true, .path = "a.fathom" },
			    &text, NULL),
		0);
	own = strstr(text_string(&text), "handle ");
	pool = strstr(text_string(&text), "waits for Queue.get at pool.py:8");
	assert_true(own && pool && own < pool);
	text_done(&text);
	made_done(&made);
}

#define PUMA                                                                                  \
	"^ThreadPool#spawn_thread_of_server@/var/lib/ruby/gems/3.1.0/gems/puma-5.6/lib/puma/" \
	"pool.rb:3"

/* What it waits for is not cut in the middle: the name is shortened, and left out in the end. */
static void what_a_package_waits_for_fits_its_line(void **state)
{
	static const struct {
		unsigned int width;
		const char *said;
	} cases[] = {
		{ 0, "spawn_thread_of_server [puma]: waits for ConditionVariable#wait at "
		     "pool.rb:133\n" },
		{ 140, "[puma]: waits for ConditionVariable#wait at pool.rb:133\n" },
		{ 72, "[puma]: ConditionVariable#wait\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct made made;
		struct text text = { 0 };

		made_init(&made);
		profile_info(made.profile)->is_wall = true;
		made_add(&made, "^call@/srv/app.rb:3", 50000000, 5);
		made_add(&made, PUMA ";&futex(ConditionVariable#wait at pool.rb:133)", 50000000,
			 5);
		assert_int_equal(
			report_text(made.profile,
				    &(struct report_options){ .is_summary = true,
							      .width = cases[i].width },
				    &text, NULL),
			0);
		if (!strstr(text_string(&text), cases[i].said))
			fail_msg("%u: %s", cases[i].width, text_string(&text));
		text_done(&text);
		made_done(&made);
	}
}

static void add(struct made *made, const char *stack, enum thread_state state, int ms)
{
	profile_add_weight(made->profile, &(struct weight){ .stack = made_stack(made, stack),
							    .thread = made->thread,
							    .state = state,
							    .ns = (uint64_t)ms * 1000000,
							    .samples = 1 });
}

/* make waits longest, for compilers that want a CPU. */
static void what_waits_for_child_processes_is_last(void **state)
{
	struct made made;
	struct text text = { 0 };
	const struct report_options options = { .is_summary = true, .width = 100 };

	(void)state;
	made = (struct made){ .profile = profile_new() };
	profile_info(made.profile)->is_wall = true;
	profile_info(made.profile)->clock = "wall";
	made_begin_process(&made, 100, "make");
	made_begin_thread(&made, 100, "make");
	add(&made, "/usr/bin/make!main;/usr/bin/make!new_job;&pselect6(a pipe)",
	    THREAD_STATE_IO, 400);
	add(&made, "/usr/bin/make!main;/usr/bin/make!new_job", THREAD_STATE_RUNNING, 100);
	made_begin_process(&made, 101, "cc1");
	made_begin_thread(&made, 101, "cc1");
	add(&made, "/usr/lib/gcc/cc1!main;/usr/lib/gcc/cc1!parse", THREAD_STATE_RUNNING, 200);
	add(&made, "[waits for a CPU]", THREAD_STATE_RUNNABLE, 300);
	assert_int_equal(report_text(made.profile, &options, &text, NULL), 0);
	const char *said = strstr(text_string(&text), "\nchildren ");
	const char *queue = strstr(text_string(&text), "waits for a CPU: cc1 30 %");
	const char *child = strstr(text_string(&text), "parse");
	const char *parent = strstr(text_string(&text), "new_job");

	assert_non_null(said);
	assert_memory_equal(said,
			    "\nchildren 40 % of that are waits of make for child "
			    "processes: listed last\n",
			    74);
	assert_non_null(queue);
	assert_non_null(child);
	assert_non_null(parent);
	assert_true(said < queue && queue < child && child < parent);
	text_done(&text);
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_region_has_its_states_in_one_row),
		cmocka_unit_test(a_thread_has_its_states_in_one_row),
		cmocka_unit_test(idle_threads_are_one_row),
		cmocka_unit_test(what_waits_for_child_processes_is_last),
		cmocka_unit_test(rare_states_go_first_where_it_is_narrow),
		cmocka_unit_test(processes_and_programs_have_states_too),
		cmocka_unit_test(what_no_own_code_waits_for_comes_last),
		cmocka_unit_test(what_a_package_waits_for_fits_its_line),
		cmocka_unit_test(what_ran_in_many_places_is_one_row),
		cmocka_unit_test(what_waits_in_many_places_for_one_holder_is_one_row),
		cmocka_unit_test(
			a_wait_for_a_cpu_beside_none_of_its_threads_is_no_others_doing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
