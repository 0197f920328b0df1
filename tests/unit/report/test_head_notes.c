#include "cmocka_all.h"

#include "base/text.h"
#include "profile/profile.h"
#include "report/head.h"

static void the_same_of_several_processes_is_said_once(void **state)
{
	static const char *const notes[] = {
		"python3 (pid 12): it set a profiler of its own",
		"the kernel dropped reports",
		"ruby (pid 14): it set a profiler of its own",
		"python3 (pid 15): functions are not traced",
		"python3 (pid 12): it set a profiler of its own",
		"sh (pid 16) ran untraced: it ended",
		"sh (pid 17) ran untraced: it ended",
		"odd (pid x): it set a profiler of its own",
	};
	struct profile_info info = { .notes = notes, .note_count = 8 };
	struct text text = { 0 };

	(void)state;
	head_add_notes(&text, &(struct style){ 0 }, &info);
	assert_string_equal(
		text_string(&text),
		"note     python3 (pid 12) and 2 more: it set a profiler of its own\n"
		"note     the kernel dropped reports\n"
		"note     python3 (pid 15): functions are not traced\n"
		"note     sh (pid 16) ran untraced: it ended\n"
		"note     sh (pid 17) ran untraced: it ended\n"
		"note     odd (pid x): it set a profiler of its own\n");
	text_done(&text);
}

static void check_limits(const struct profile_info *info, const char *expected)
{
	struct profile *profile = profile_new();
	struct text text = { 0 };

	*profile_info(profile) = *info;
	head_add_limits(&text, &(struct style){ 0 }, profile);
	assert_string_equal(text_string(&text), expected);
	text_done(&text);
	profile_free(profile);
}

static void a_budget_that_was_passed_is_said(void **state)
{
	struct profile_info info = { .mode = "sample",
				     .overhead = "1%",
				     .kernel_cpu_ns = 1000000000,
				     .sampling_cost_ns = 10000000 };

	(void)state;
	check_limits(&info, "");
	info.sampling_cost_ns = 29000000;
	check_limits(&info, "budget   --overhead 1% was passed: sampling took 2.9 %\n");
	info.starts = 1400;
	info.starts_ns = 21000000;
	check_limits(
		&info,
		"budget   --overhead 1% was passed: sampling took 2.9 %, of it 2.1 % starts "
		"of 1,400 processes, which\n"
		"         no rate makes cheaper\n");
	info.overhead = NULL;
	check_limits(&info, "");
}

static void a_trace_that_was_paused_is_said_to_be_partial(void **state)
{
	struct profile_info info = {
		.mode = "trace", .overhead = "10%", .throttled_ns = 88, .traced_life_ns = 100
	};

	(void)state;
	check_limits(&info,
		     "partial  --overhead 10% paused tracing: traced 12 % of the time, and "
		     "counts and times are of that\n"
		     "         part only\n");
	info.throttled_ns = 0;
	check_limits(&info, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_of_several_processes_is_said_once),
		cmocka_unit_test(a_budget_that_was_passed_is_said),
		cmocka_unit_test(a_trace_that_was_paused_is_said_to_be_partial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
