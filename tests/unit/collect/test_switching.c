/* When events on a process cost too much at its switches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include "collect/costs/switch_cost.h"
#include "collect/costs/switching.h"

#define MS 1000000ULL
#define US 1000ULL

/* What is fed to it: windows of that length, each with so much. */
struct windows {
	uint64_t wall_ns, cpu_ns, switches, cost_ns;
	int count;
	uint64_t births;
};

static uint64_t now_ns, cpu_ns, switches, births, preemptions;
/* In each window. */
static uint64_t more_preemptions;

static void begin(struct switching *switching)
{
	*switching = (struct switching){ 0 };
	now_ns = 1000 * MS;
	cpu_ns = switches = births = preemptions = 0;
	assert_false(switching_take(switching, &(struct switching_look){ .time_ns = now_ns }));
}

static void feed(struct switching *switching, const struct windows *windows)
{
	for (int i = 0; i < windows->count; i++) {
		now_ns += windows->wall_ns;
		cpu_ns += windows->cpu_ns;
		switches += windows->switches;
		births += windows->births;
		preemptions += more_preemptions;
		switching_take(switching, &(struct switching_look){
						  .time_ns = now_ns,
						  .cpu_ns = cpu_ns,
						  .waits = switches,
						  .preemptions = preemptions,
						  .births = births,
						  .cost_ns = windows->cost_ns,
					  });
	}
}

static void test_decides(void **state)
{
	static const struct {
		const char *name;
		struct windows windows;
		bool is_dear;
	} cases[] = {
		{ "a busy server on a virtual machine",
		  { 100 * MS, 50 * MS, 2000, 15 * US, 2, 0 },
		  true },
		{ "the same where a switch costs little",
		  { 100 * MS, 50 * MS, 2000, 300, 9, 0 },
		  false },
		{ "a program that computes, and waits for a disk now and then",
		  { 100 * MS, 90 * MS, 25, 20 * US, 20, 0 },
		  false },
		{ "a shell that starts programs",
		  { 100 * MS, 50 * MS, 500, 15 * US, 9, 200 },
		  false },
		{ "a server that starts a process now and then",
		  { 100 * MS, 50 * MS, 2000, 15 * US, 2, 9 },
		  true },
		{ "a server beside so many others that it has a twentieth of a processor",
		  { 100 * MS, 5 * MS, 40, 15 * US, 6, 0 },
		  true },
		{ "one window alone", { 100 * MS, 50 * MS, 2000, 15 * US, 1, 0 }, false },
		{ "a server that loses a tenth and more: in short windows",
		  { 40 * MS, 20 * MS, 800, 15 * US, 2, 0 },
		  true },
		{ "one that loses a twentieth: in longer ones",
		  { 40 * MS, 20 * MS, 200, 5 * US, 4, 0 },
		  false },
		{ "the same, for as long", { 40 * MS, 20 * MS, 200, 5 * US, 6, 0 }, true },
		{ "windows that have not ended",
		  { 10 * MS, 5 * MS, 200, 15 * US, 7, 0 },
		  false },
		{ "few switches in little time",
		  { 100 * MS, 2 * MS, 15, 20 * US, 19, 0 },
		  false },
		{ "time that is hardly any",
		  { 100 * MS, 500 * US, 200, 20 * US, 9, 0 },
		  false },
		{ "just below the bound", { 100 * MS, 50 * MS, 99, 10 * US, 9, 0 }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct switching switching;

		print_message("%s\n", cases[i].name);
		begin(&switching);
		feed(&switching, &cases[i].windows);
		assert_int_equal(switching.is_dear, cases[i].is_dear);
	}
}

static void test_counts_preemptions_of_what_waits(void **state)
{
	static const struct {
		const char *name;
		struct windows windows;
		bool is_dear;
	} cases[] = {
		{ "a server whose answers wake a client that runs in its place",
		  { 100 * MS, 40 * MS, 60, 15 * US, 10, 0 },
		  true },
		{ "a program that computes while others preempt it",
		  { 100 * MS, 20 * MS, 0, 15 * US, 10, 0 },
		  false },
		{ "the same, and it waits for a disk now and then",
		  { 100 * MS, 20 * MS, 2, 15 * US, 10, 0 },
		  false },
	};

	(void)state;
	more_preemptions = 400;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct switching switching;

		print_message("%s\n", cases[i].name);
		begin(&switching);
		feed(&switching, &cases[i].windows);
		assert_int_equal(switching.is_dear, cases[i].is_dear);
	}
	more_preemptions = 0;
}

static void test_does_not_flap(void **state)
{
	const struct windows dear = { 100 * MS, 50 * MS, 2000, 15 * US, 1, 0 };
	const struct windows cheap = { 600 * MS, 300 * MS, 10, 15 * US, 1, 0 };
	struct switching switching;

	(void)state;
	begin(&switching);
	for (int i = 0; i < 20; i++) {
		feed(&switching, &dear);
		feed(&switching, &cheap);
	}
	assert_false(switching.is_dear);
	feed(&switching, &dear);
	feed(&switching, &dear);
	assert_true(switching.is_dear);
	for (int i = 0; i < 20; i++)
		feed(&switching, &cheap);
	assert_true(switching.is_dear);
}

static void test_says_what_it_saw(void **state)
{
	const struct windows windows = { 200 * MS, 100 * MS, 1000, 10 * US, 2, 0 };
	struct switching switching;

	(void)state;
	begin(&switching);
	feed(&switching, &windows);
	assert_int_equal(switching.per_second, 10000);
	assert_int_equal(switching.permille, 100);
	assert_int_equal(switching.busy, 500);
	assert_true(switching.is_dear);
	/* It was taken for ten times as dear as it is. */
	switching_price(&switching, 10 * US, 3 * US);
	assert_int_equal(switching.permille, 30);
	/* So its windows were too short, but for one. */
	assert_false(switching.is_dear);
	feed(&switching, &(struct windows){ 100 * MS, 50 * MS, 500, 3 * US, 1, 0 });
	assert_true(switching.is_dear);
	switching_price(&switching, 3 * US, 1 * US);
	assert_int_equal(switching.permille, 10);
	assert_false(switching.is_dear);
	/* From the beginning again. */
	feed(&switching, &(struct windows){ 100 * MS, 50 * MS, 2000, 15 * US, 1, 0 });
	assert_false(switching.is_dear);
}

static void test_figures_that_cannot_be_do_no_harm(void **state)
{
	struct switching switching;

	(void)state;
	begin(&switching);
	feed(&switching, &(struct windows){ 200 * MS, 0, UINT64_MAX / 2, UINT64_MAX, 3, 0 });
	assert_false(switching.is_dear);
	feed(&switching,
	     &(struct windows){ 200 * MS, 100 * MS, UINT64_MAX / 4, UINT64_MAX, 1, 0 });
	assert_true(switching.permille <= 1000000);
	/* Counts that fall. */
	switching_take(&switching, &(struct switching_look){ .time_ns = now_ns + 300 * MS });
	assert_int_equal(switching.per_second, 0);
}

static void test_notices_once_that_switches_begin(void **state)
{
	const struct windows quiet = { 600 * MS, 1 * MS, 20, 15 * US, 1, 0 };
	const struct windows active = { 100 * MS, 50 * MS, 2000, 300, 1, 0 };
	struct switching switching = { 0 };

	(void)state;
	assert_false(switching_begins(&switching, 1000));
	begin(&switching);
	feed(&switching, &quiet);
	assert_false(switching_begins(&switching, switches + 90));
	assert_true(switching_begins(&switching, switches + 110));
	assert_false(switching_begins(&switching, switches + 200));
	feed(&switching, &active);
	/* It is looked at in each round, and goes on. */
	assert_false(switching_begins(&switching, switches + 1000));
	feed(&switching, &quiet);
	assert_true(switching_begins(&switching, switches + 1000));
}

static void test_rests_are_not_felt(void **state)
{
	(void)state;
	assert_false(switching_is_felt(0));
	assert_false(switching_is_felt(20));
	assert_true(switching_is_felt(100));
}

static void test_windows_with_gaps_in_their_births_do_not_decide(void **state)
{
	const struct windows dear = { 100 * MS, 50 * MS, 2000, 15 * US, 1, 0 };
	struct switching switching;

	(void)state;
	begin(&switching);
	for (int i = 0; i < 9; i++) {
		switching.has_gaps = true;
		feed(&switching, &dear);
		assert_false(switching.is_dear);
	}
	feed(&switching, &dear);
	feed(&switching, &dear);
	assert_true(switching.is_dear);
}

static void test_measures_what_is_worth_it(void **state)
{
	static const struct {
		const char *name;
		uint64_t switches, cpu_ns;
		bool is_worth;
	} cases[] = {
		{ "a server", 100000, 2000 * MS, true },
		{ "a shell that forks a thousand times", 2500, 100 * MS, false },
		{ "a program that computes for a minute", 6000, 60000 * MS, false },
		{ "one without any time", 6000, 0, false },
		{ "figures that cannot be", UINT64_MAX, 1, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(switching_is_worth_measuring(cases[i].switches,
							      cases[i].cpu_ns, 50 * US),
				 cases[i].is_worth);
	}
}

static void test_how_often_a_period_ends_before_the_tick(void **state)
{
	(void)state;
	assert_float_equal(switch_cost_nearer(1 * MS, 4 * MS), 0.875, 1e-9);
	assert_float_equal(switch_cost_nearer(4 * MS, 4 * MS), 0.5, 1e-9);
	assert_float_equal(switch_cost_nearer(40 * MS, 4 * MS), 0.05, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decides),
		cmocka_unit_test(test_counts_preemptions_of_what_waits),
		cmocka_unit_test(test_does_not_flap),
		cmocka_unit_test(test_says_what_it_saw),
		cmocka_unit_test(test_figures_that_cannot_be_do_no_harm),
		cmocka_unit_test(test_notices_once_that_switches_begin),
		cmocka_unit_test(test_rests_are_not_felt),
		cmocka_unit_test(test_windows_with_gaps_in_their_births_do_not_decide),
		cmocka_unit_test(test_measures_what_is_worth_it),
		cmocka_unit_test(test_how_often_a_period_ends_before_the_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
