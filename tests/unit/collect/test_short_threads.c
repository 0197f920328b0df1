/* Threads that end young, and on which of their creators an event is opened. */
#include "collect/processes/short_threads.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define PERIOD_NS 1000000ULL
#define SECOND_NS 1000000000ULL

static unsigned opened;
static pid_t opened_on;

static int open_on(pid_t tid)
{
	opened++;
	opened_on = tid;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int open_nothing(pid_t tid)
{
	(void)tid;
	return -1;
}

static int setup(void **state)
{
	static struct short_threads threads;

	opened = 0;
	opened_on = 0;
	threads = (struct short_threads){ 0 };
	*state = &threads;
	return 0;
}

static int teardown(void **state)
{
	short_threads_close(*state);
	return 0;
}

/* So many children of a thread end, each so long after the one before. */
static void end(struct short_threads *threads, pid_t creator, unsigned count, uint64_t apart_ns,
		uint64_t life_ns, uint64_t cpu_ns)
{
	for (unsigned i = 0; i < count; i++)
		short_threads_take_end(threads,
				       &(struct short_threads_life){
					       .creator = creator,
					       .end_ns = SECOND_NS + i * apart_ns,
					       .life_ns = life_ns,
					       .cpu_ns = cpu_ns,
					       .period_ns = PERIOD_NS,
				       },
				       open_on);
}

static void a_creator_of_many_short_threads_gets_one_event(void **state)
{
	end(*state, 7, 1000, 200000, 100000, 0);
	assert_int_equal(opened, 1);
	assert_int_equal(opened_on, 7);
}

static void a_few_short_threads_cost_nothing(void **state)
{
	end(*state, 7, 15, 200000, 100000, 0);
	assert_int_equal(opened, 0);
}

static void short_threads_far_apart_cost_nothing(void **state)
{
	end(*state, 7, 100, SECOND_NS / 10, 100000, 0);
	assert_int_equal(opened, 0);
}

static void threads_that_live_or_compute_long_are_not_short(void **state)
{
	end(*state, 7, 100, 200000, 50 * PERIOD_NS, 0);
	end(*state, 7, 100, 200000, 20 * PERIOD_NS, 10 * PERIOD_NS);
	assert_int_equal(opened, 0);
}

static void threads_whose_creator_is_unknown_open_nothing(void **state)
{
	end(*state, 0, 100, 200000, 100000, 0);
	assert_int_equal(opened, 0);
}

static void the_end_of_a_creator_closes_its_event(void **state)
{
	struct short_threads *threads = *state;

	end(threads, 7, 16, 200000, 100000, 0);
	const int fd = threads->creators[0].fd;

	assert_true(fd >= 0);
	assert_int_equal(short_threads_event_tid(threads, 0), 7);
	short_threads_forget(threads, 7);
	assert_int_equal(short_threads_event_tid(threads, 0), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	/* A later thread with its tid begins anew. */
	end(threads, 7, 15, 200000, 100000, 0);
	assert_int_equal(opened, 1);
}

static void an_event_is_closed_when_no_short_threads_come_any_more(void **state)
{
	struct short_threads *threads = *state;

	end(threads, 7, 16, 200000, 100000, 0);
	short_threads_expire(threads, 2 * SECOND_NS);
	assert_int_equal(short_threads_event_tid(threads, 0), 7);
	short_threads_expire(threads, 20 * SECOND_NS);
	assert_int_equal(short_threads_event_tid(threads, 0), 0);
	assert_int_equal(threads->creators[0].fd, -1);
}

static void a_refused_event_is_asked_for_again_but_not_each_time(void **state)
{
	struct short_threads *threads = *state;
	struct short_threads_life life = { .creator = 7,
					   .life_ns = 100000,
					   .period_ns = PERIOD_NS };

	for (unsigned i = 0; i < 16; i++) {
		life.end_ns = SECOND_NS + i;
		short_threads_take_end(threads, &life, open_nothing);
	}
	end(threads, 7, 15, 200000, 100000, 0);
	assert_int_equal(opened, 0);
	end(threads, 7, 1, 200000, 100000, 0);
	assert_int_equal(opened, 1);
}

static void however_many_creators_there_are_what_is_remembered_does_not_grow(void **state)
{
	struct short_threads *threads = *state;

	for (pid_t tid = 1; tid <= 1000; tid++)
		end(threads, tid, 16, 200000, 100000, 0);
	assert_int_equal(opened, SHORT_THREADS_CREATORS);
	assert_int_equal(threads->count, SHORT_THREADS_CREATORS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_creator_of_many_short_threads_gets_one_event),
		TEST(a_few_short_threads_cost_nothing),
		TEST(short_threads_far_apart_cost_nothing),
		TEST(threads_that_live_or_compute_long_are_not_short),
		TEST(threads_whose_creator_is_unknown_open_nothing),
		TEST(the_end_of_a_creator_closes_its_event),
		TEST(an_event_is_closed_when_no_short_threads_come_any_more),
		TEST(a_refused_event_is_asked_for_again_but_not_each_time),
		TEST(however_many_creators_there_are_what_is_remembered_does_not_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
