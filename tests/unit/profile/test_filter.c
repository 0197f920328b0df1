#include "cmocka_all.h"

#include <errno.h>

#include "base/error.h"
#include "made.h"
#include "profile/filter.h"
#include "profile/totals.h"

static void setup(struct made *made)
{
	made_init(made);
	made_add(made, "/bin/prog!main;/lib/libz.so.1!deflate", 10, 1);
	made_add(made, "/bin/prog!main;/lib/libz.so.1!deflate;/lib/libc.so.6!memcpy", 20, 1);
	made_begin_thread(made, 101, "worker");
	made_add(made, "/bin/prog!main;/usr/lib/libzstd.so.1!compress", 40, 1);
	made_begin_thread(made, 102, "worker");
	made_add(made, "/bin/prog!main", 80, 1);
	made_begin_thread(made, 103, "\x1b[1m");
	made_add(made, "[exit]", 160, 0);
}

static void assert_kept(const char *thread, const char *module, uint64_t ns,
			const char *description)
{
	struct made made;
	struct filter *filter;
	struct totals totals;

	setup(&made);
	struct filter_options options = { .thread = thread, .module = module };
	assert_int_equal(filter_new(made.profile, &options, &filter, NULL), 0);
	assert_int_equal(filter_kept_ns(filter), ns);
	assert_int_equal(filter_whole_ns(filter), 310);
	assert_string_equal(filter_description(filter), description);
	totals_by_function(made.profile, filter, &totals);
	assert_int_equal(totals.ns, ns);
	totals_done(&totals);
	filter_free(filter);
	made_done(&made);
}

static void assert_refused(const char *thread, const char *module, const char *sentence)
{
	struct made made;
	struct filter *filter;
	struct error err;

	setup(&made);
	struct filter_options options = { .thread = thread, .module = module };
	assert_int_equal(filter_new(made.profile, &options, &filter, &err), -ENOENT);
	assert_null(filter);
	assert_string_equal(err.text, sentence);
	made_done(&made);
}

static void nothing_asked_for_is_no_filter(void **state)
{
	struct made made;
	struct filter *filter;

	(void)state;
	setup(&made);
	assert_int_equal(filter_new(made.profile, &(struct filter_options){ 0 }, &filter, NULL),
			 0);
	assert_null(filter);
	assert_true(filter_keeps(filter, profile_get_weight(made.profile, 0)));
	made_done(&made);
}

static void a_thread_is_named_by_its_tid_or_its_name(void **state)
{
	(void)state;
	assert_kept("101", NULL, 40, "thread 101 (worker)");
	assert_kept("prog", NULL, 30, "thread prog (tid 100)");
	assert_kept("worker", NULL, 120, "the 2 threads named worker");
	assert_kept("103", NULL, 160, "thread 103 (\\x1b[1m)");
}

static void a_number_that_is_no_tid_may_be_a_name(void **state)
{
	struct made made;
	struct filter *filter;

	(void)state;
	made_init(&made);
	made_begin_thread(&made, 7, "42");
	made_add(&made, "main", 5, 1);
	assert_int_equal(filter_new(made.profile, &(struct filter_options){ .thread = "42" },
				    &filter, NULL),
			 0);
	assert_int_equal(filter_kept_ns(filter), 5);
	filter_free(filter);
	made_done(&made);
}

static void a_program_replaced_by_exec_keeps_its_tid(void **state)
{
	struct made made;
	struct filter *filter;

	(void)state;
	made_init(&made);
	made_add(&made, "sh", 5, 1);
	made_begin_process(&made, 100, "make");
	made_begin_thread(&made, 100, "make");
	made_add(&made, "make", 6, 1);
	assert_int_equal(filter_new(made.profile, &(struct filter_options){ .thread = "100" },
				    &filter, NULL),
			 0);
	assert_int_equal(filter_kept_ns(filter), 11);
	assert_string_equal(filter_description(filter), "the 2 threads with the tid 100");
	filter_free(filter);
	made_done(&made);
}

static void a_modules_time_is_that_of_its_own_code(void **state)
{
	(void)state;
	assert_kept(NULL, "/lib/libz.so.1", 10, "code of libz.so.1");
	assert_kept(NULL, "libc.so.6", 20, "code of libc.so.6");
	assert_kept(NULL, "prog", 80, "code of prog");
}

static void pythons_modules_are_its_files(void **state)
{
	struct made made;
	struct filter *filter;

	(void)state;
	made_init(&made);
	made_add(&made, "%<module>@/srv/app/main.py:1;%run@/srv/app/worker.py:3", 5, 1);
	made_add(&made, "%<module>@/srv/app/main.py:1;%stop@/srv/app/worker.py:9", 6, 1);
	made_add(&made, "%<module>@/srv/app/main.py:1;libz.so!deflate", 7, 1);
	assert_int_equal(filter_new(made.profile,
				    &(struct filter_options){ .module = "worker.py" }, &filter,
				    NULL),
			 0);
	assert_int_equal(filter_kept_ns(filter), 11);
	assert_string_equal(filter_description(filter), "code of worker.py");
	filter_free(filter);
	made_done(&made);
}

/* What is kept of three packages' functions, or a sentence of why nothing is. */
static void assert_package(const char *own, const char *package, uint64_t ns, const char *said)
{
	struct made made;
	struct filter *filter;
	struct error err;

	made_init(&made);
	made_add(&made, "%main@/srv/app/main.py:1", 5, 1);
	made_add(&made, "%main@/srv/app/main.py:1;%get@/v/site-packages/flask/app.py:3", 6, 1);
	made_add(&made, "%main@/srv/app/main.py:1;%sql@/v/site-packages/peewee.py:9", 70, 1);
	profile_info(made.profile)->own = own;
	struct filter_options options = { .package = package };
	const int rc = filter_new(made.profile, &options, &filter, &err);

	if (ns > 0) {
		assert_int_equal(rc, 0);
		assert_int_equal(filter_kept_ns(filter), ns);
		assert_string_equal(filter_description(filter), said);
	} else {
		assert_int_equal(rc, -ENOENT);
		assert_string_equal(err.text, said);
	}
	filter_free(filter);
	made_done(&made);
}

static void a_package_is_meant_by_its_name_a_part_or_own(void **state)
{
	(void)state;
	assert_package(NULL, "flask", 6, "package flask");
	assert_package(NULL, "Flask", 6, "package flask");
	assert_package(NULL, "pee", 70, "package peewee");
	assert_package(NULL, "own", 5, "your own code");
	assert_package("peewee", "own", 70, "your own code");
	assert_package(NULL, "django", 0,
		       "no package is named \"django\"; there are: own, flask, peewee "
		       "(--by package lists all)");
}

static void a_package_and_a_module_narrow_each_other(void **state)
{
	struct made made;
	struct filter *filter;

	(void)state;
	made_init(&made);
	made_add(&made, "%get@/v/site-packages/flask/app.py:3", 6, 1);
	made_add(&made, "%send@/v/site-packages/flask/json.py:3", 70, 1);
	struct filter_options options = { .package = "flask", .module = "app.py" };
	assert_int_equal(filter_new(made.profile, &options, &filter, NULL), 0);
	assert_int_equal(filter_kept_ns(filter), 6);
	assert_string_equal(filter_description(filter), "code of app.py, package flask");
	filter_free(filter);
	made_done(&made);
}

static void a_part_of_a_modules_name_means_all_that_have_it(void **state)
{
	(void)state;
	assert_kept(NULL, "libz", 50, "code of libz.so.1, libzstd.so.1");
	assert_kept(NULL, "zst", 40, "code of libzstd.so.1");
}

static void thread_and_module_are_both_asked(void **state)
{
	(void)state;
	assert_kept("worker", "libz", 40,
		    "the 2 threads named worker, code of libz.so.1, libzstd.so.1");
}

static void only_what_passes_is_left_when_a_filter_is_applied(void **state)
{
	struct made made;
	struct filter_options options = { .thread = "worker" };
	uint64_t ns = 0;

	(void)state;
	setup(&made);
	assert_int_equal(filter_apply(made.profile, &options, NULL), 0);
	for (size_t i = 0; i < profile_weight_count(made.profile); i++)
		ns += profile_get_weight(made.profile, i)->ns;
	assert_int_equal(ns, 120);
	assert_string_equal(profile_get_info(made.profile)->part,
			    "only the 2 threads named worker, 38.7 % of the time recorded");
	/* What is added again joins what was kept. */
	const struct weight again = *profile_get_weight(made.profile, 0);
	const size_t count = profile_weight_count(made.profile);

	profile_add_weight(made.profile, &again);
	assert_int_equal(profile_weight_count(made.profile), count);
	assert_int_equal(profile_get_weight(made.profile, 0)->ns, 2 * again.ns);
	made_done(&made);
}

static void a_process_is_named_by_its_pid_or_its_name(void **state)
{
	static const char *const names[] = { "100", "prog" };
	struct made made;
	struct filter *filter;
	struct error err;

	(void)state;
	setup(&made);
	for (size_t i = 0; i < 2; i++) {
		struct filter_options options = { .process = names[i], .thread = "102" };

		assert_int_equal(filter_new(made.profile, &options, &filter, NULL), 0);
		assert_int_equal(filter_kept_ns(filter), 80);
		assert_string_equal(filter_description(filter),
				    "process prog (pid 100), thread 102 (worker)");
		filter_free(filter);
	}
	struct filter_options options = { .process = "none" };

	assert_int_equal(filter_new(made.profile, &options, &filter, &err), -ENOENT);
	assert_string_equal(err.text, "no process has the name or the pid \"none\"; there are: "
				      "prog (100) (--by process lists all)");
	made_done(&made);
}

static void an_unknown_thread_is_refused_with_those_there_are(void **state)
{
	(void)state;
	assert_refused("main", NULL,
		       "no thread has the name or the tid \"main\"; there are: prog, worker, "
		       "\\x1b[1m (--by thread lists all with their tids)");
	assert_refused(
		"999999999999999999999", NULL,
		"no thread has the name or the tid \"999999999999999999999\"; there are: "
		"prog, worker, \\x1b[1m (--by thread lists all with their tids)");
}

static void an_unknown_module_is_refused_with_those_there_are(void **state)
{
	(void)state;
	assert_refused(NULL, "libpng",
		       "no module is named \"libpng\"; there are: prog, libz.so.1, libc.so.6, "
		       "libzstd.so.1 (--by module lists all)");
	assert_refused(NULL, "",
		       "no module is named \"\"; there are: prog, libz.so.1, libc.so.6, "
		       "libzstd.so.1 (--by module lists all)");
}

static void an_empty_profile_has_nothing_to_choose_from(void **state)
{
	struct profile *p = profile_new();
	struct filter *filter;
	struct error err;

	(void)state;
	assert_int_equal(
		filter_new(p, &(struct filter_options){ .thread = "a" }, &filter, &err),
		-ENOENT);
	assert_string_equal(err.text, "no thread \"a\": this profile has no threads");
	assert_int_equal(
		filter_new(p, &(struct filter_options){ .module = "a" }, &filter, &err),
		-ENOENT);
	assert_string_equal(err.text, "no module \"a\": this profile has no modules");
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_asked_for_is_no_filter),
		cmocka_unit_test(a_thread_is_named_by_its_tid_or_its_name),
		cmocka_unit_test(a_number_that_is_no_tid_may_be_a_name),
		cmocka_unit_test(a_program_replaced_by_exec_keeps_its_tid),
		cmocka_unit_test(a_modules_time_is_that_of_its_own_code),
		cmocka_unit_test(pythons_modules_are_its_files),
		cmocka_unit_test(a_package_is_meant_by_its_name_a_part_or_own),
		cmocka_unit_test(a_package_and_a_module_narrow_each_other),
		cmocka_unit_test(a_part_of_a_modules_name_means_all_that_have_it),
		cmocka_unit_test(thread_and_module_are_both_asked),
		cmocka_unit_test(only_what_passes_is_left_when_a_filter_is_applied),
		cmocka_unit_test(a_process_is_named_by_its_pid_or_its_name),
		cmocka_unit_test(an_unknown_thread_is_refused_with_those_there_are),
		cmocka_unit_test(an_unknown_module_is_refused_with_those_there_are),
		cmocka_unit_test(an_empty_profile_has_nothing_to_choose_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
