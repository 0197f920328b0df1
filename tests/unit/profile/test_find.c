#include "cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "made.h"
#include "profile/find.h"

static void setup(struct made *made)
{
	made_init(made);
	made_add(made, "main;sort", 1, 1);
	made_add(made, "main;sort_lines", 1, 1);
	made_add(made, "main;compress2;deflate_fast", 1, 1);
	made_add(made, "main;a.so!init@a.c:1", 1, 1);
	made_add(made, "main;b.so!init@b.c:1", 1, 1);
	made_add(made, "main;ns::Map<int, char>::insert(int, char const*)", 1, 1);
	made_add(made, "main;ns::Map<int, char>::erase(ns::Key)", 1, 1);
}

static void assert_found(const char *wanted, const char *name, size_t count)
{
	struct made made;
	struct found found;

	setup(&made);
	assert_int_equal(find_functions(made.profile, wanted, &found, NULL), 0);
	assert_string_equal(found.name, name);
	assert_int_equal(found.count, count);
	assert_true(found.is_meant[made_function(&made, name).n]);
	assert_false(found.is_meant[made_function(&made, "main").n]);
	assert_false(found.is_meant[0]);
	found_done(&found);
	made_done(&made);
}

static void assert_refused(const char *wanted, int rc, const char *sentence)
{
	struct made made;
	struct found found = { 0 };
	struct error err;

	setup(&made);
	assert_int_equal(find_functions(made.profile, wanted, &found, &err), rc);
	assert_string_equal(err.text, sentence);
	made_done(&made);
}

static void the_exact_name_wins_over_longer_ones(void **state)
{
	(void)state;
	assert_found("sort", "sort", 1);
}

static void functions_of_one_name_are_all_meant(void **state)
{
	(void)state;
	assert_found("init", "init", 2);
}

static void a_method_is_found_without_its_class_and_parameters(void **state)
{
	(void)state;
	assert_found("insert", "ns::Map<int, char>::insert(int, char const*)", 1);
	assert_found("ns::Map<int, char>::erase", "ns::Map<int, char>::erase(ns::Key)", 1);
}

static void setup_templates(struct made *made)
{
	made_init(made);
	made_add(made, "main;int std::vector<int>::emplace_back<int&>(int&)", 1, 1);
	made_add(made, "main;long std::vector<long>::emplace_back<long>(long&&)", 1, 1);
	made_add(made, "main;ns::Map<int>::emplace_back(int)", 1, 1);
	made_add(made, "main;void std::sort<int*>(int*, int*)", 1, 1);
	made_add(made, "main;other(std::sort<int*>)", 1, 1);
}

static void assert_template(const char *wanted, const char *name, size_t count)
{
	struct made made;
	struct found found;

	setup_templates(&made);
	assert_int_equal(find_functions(made.profile, wanted, &found, NULL), 0);
	assert_string_equal(found.name, name);
	assert_int_equal(found.count, count);
	found_done(&found);
	made_done(&made);
}

static void a_shortened_name_is_found_as_it_is_shown(void **state)
{
	static const char all[] = "std::vector<…>::emplace_back<…>(…)";
	static const char sort[] = "void std::sort<int*>(int*, int*)";

	(void)state;
	assert_template("std::vector<…>::emplace_back<…>(…)", all, 2);
	assert_template("std::vector<…>::emplace_back<…>", all, 2);
	assert_template("…::vector<…>::emplace_back<…>(…)", all, 2);
	assert_template("std::vector<l…>::emplace_back<…>(…)",
			"long std::vector<long>::emplace_back<long>(long&&)", 1);
	assert_template("std::sort<…>(…)", sort, 1);
	assert_template("void std::sort<…>(…)", sort, 1);
	assert_template("…sort<…>", sort, 1);
}

static void instances_of_a_template_are_all_meant_and_others_not(void **state)
{
	struct made made;
	struct found found;
	struct error err;

	(void)state;
	assert_template("vector<int>::emplace_back",
			"int std::vector<int>::emplace_back<int&>(int&)", 1);
	setup_templates(&made);
	assert_int_equal(find_functions(made.profile, "emplace_back", &found, &err), -EINVAL);
	assert_string_equal(err.text,
			    "\"emplace_back\" fits several functions "
			    "(std::vector<…>::emplace_back<…>(…), "
			    "ns::Map<…>::emplace_back(…)): write one of them in full");
	made_done(&made);
}

static void a_part_is_enough_when_only_one_has_it(void **state)
{
	(void)state;
	assert_found("flate_f", "deflate_fast", 1);
	assert_found("DEFLATE", "deflate_fast", 1);
}

static void a_part_that_several_have_is_refused_with_their_names(void **state)
{
	(void)state;
	assert_refused(
		"press2;", -ENOENT,
		"no function in this profile is named \"press2;\", and none has it in its "
		"name");
	assert_refused("ns::", -EINVAL,
		       "\"ns::\" fits several functions (ns::Map<…>::insert(…), "
		       "ns::Map<…>::erase(…)): write one of them in full");
}

static void a_mistyped_name_is_refused_with_near_ones(void **state)
{
	(void)state;
	assert_refused(
		"sotr_lines", -ENOENT,
		"no function in this profile is named \"sotr_lines\"; near it: sort_lines");
	assert_refused("mian", -ENOENT,
		       "no function in this profile is named \"mian\"; near it: "
		       "main");
}

static void an_unknown_name_is_refused(void **state)
{
	(void)state;
	assert_refused(
		"quux_of_nothing", -ENOENT,
		"no function in this profile is named \"quux_of_nothing\", and none has it "
		"in its name");
	assert_refused(
		"", -ENOENT,
		"no function in this profile is named \"\", and none has it in its name");
}

static void names_are_safe_to_print_in_sentences(void **state)
{
	struct made made;
	struct found found;
	struct error err;

	(void)state;
	made_init(&made);
	made_add(&made, "x\x1b[31m1", 1, 1);
	made_add(&made, "x\x1b[31m2", 1, 1);
	assert_int_equal(find_functions(made.profile, "x", &found, &err), -EINVAL);
	assert_string_equal(err.text,
			    "\"x\" fits several functions (x\\x1b[31m1, x\\x1b[31m2): "
			    "write one of them in full");
	made_done(&made);
}

static void setup_python(struct made *made)
{
	made_init(made);
	made_add(made, "%<module>@/srv/app/main.py:1;%run@/srv/app/main.py:4", 1, 1);
	made_add(made, "%<module>@/srv/app/main.py:1;%Worker.run@/srv/app/jobs/worker.py:9", 1,
		 1);
	made_add(made,
		 "%Worker.run@/srv/app/jobs/worker.py:9;%Worker.run.<locals>.step@/srv/app/"
		 "jobs/worker.py:12",
		 1, 1);
	made_add(made,
		 "%Worker.run@/srv/app/jobs/worker.py:9;%decode@/usr/lib/python3.11/json/"
		 "decoder.py:3",
		 1, 1);
	made_add(made, "%decode@/usr/lib/python3.11/base64/__init__.py:3", 1, 1);
	made_add(made, "%Worker.stop@/srv/app/jobs/worker.py:19;%math.sin", 1, 1);
	made_stack(made, "python!Py_RunMain;%run@/srv/app/main.py:4");
}

/* How many are meant, and one of them by where it is. */
static void assert_python(const char *wanted, const char *name, const char *file, size_t count)
{
	struct made made;
	struct found found;
	bool is_there = false;

	setup_python(&made);
	assert_int_equal(find_functions(made.profile, wanted, &found, NULL), 0);
	assert_string_equal(found.name, name);
	assert_int_equal(found.count, count);
	for (uint32_t i = 1; i <= profile_function_count(made.profile); i++) {
		const struct function *function =
			profile_get_function(made.profile, (struct function_id){ i });

		is_there |= found.is_meant[i] && function->file &&
			    strcmp(function->file, file) == 0;
	}
	assert_true(is_there || !*file);
	found_done(&found);
	made_done(&made);
}

static void python_names_are_found_as_people_type_them(void **state)
{
	(void)state;
	assert_python("Worker.run", "Worker.run", "/srv/app/jobs/worker.py", 1);
	assert_python("stop", "Worker.stop", "/srv/app/jobs/worker.py", 1);
	assert_python("run.<locals>.step", "Worker.run.<locals>.step", "", 1);
	assert_python("step", "Worker.run.<locals>.step", "", 1);
	assert_python("sin", "math.sin", "", 1);
	assert_python("math.sin", "math.sin", "", 1);
}

static void a_python_name_is_found_behind_its_modules(void **state)
{
	(void)state;
	assert_python("decode", "decode", "/usr/lib/python3.11/json/decoder.py", 2);
	assert_python("json.decoder.decode", "decode", "/usr/lib/python3.11/json/decoder.py",
		      1);
	assert_python("decoder.decode", "decode", "/usr/lib/python3.11/json/decoder.py", 1);
	assert_python("base64.decode", "decode", "/usr/lib/python3.11/base64/__init__.py", 1);
	assert_python("worker.Worker.run", "Worker.run", "/srv/app/jobs/worker.py", 1);
	assert_python("app.main.run", "run", "/srv/app/main.py", 1);
	assert_python("main.<module>", "<module>", "/srv/app/main.py", 1);
}

static void the_end_of_a_python_name_in_another_module_is_not_meant(void **state)
{
	struct made made;
	struct found found;
	struct error err;

	(void)state;
	setup_python(&made);
	assert_int_equal(find_functions(made.profile, "yaml.decoder.decode", &found, &err),
			 -ENOENT);
	made_done(&made);
}

static void assert_ruby(const char *wanted, const char *name)
{
	struct made made;
	struct found found;

	made_init(&made);
	made_add(&made, "^<main>@/srv/a.rb:1;^Shop::Cart#total@/srv/a.rb:3", 1, 1);
	made_add(&made, "^block in Shop::Cart#total@/srv/a.rb:4;^Array#sum", 1, 1);
	made_add(&made, "^block (2 levels) in Shop::Cart#total@/srv/a.rb:5", 1, 1);
	made_add(&made, "^Shop.open@/srv/a.rb:9;^Integer#<<", 1, 1);
	made_add(&made, "^Shop::Cart#total=@/srv/a.rb:12", 1, 1);
	assert_int_equal(find_functions(made.profile, wanted, &found, NULL), 0);
	assert_string_equal(found.name, name);
	assert_int_equal(found.count, 1);
	found_done(&found);
	made_done(&made);
}

static void ruby_names_are_found_as_people_type_them(void **state)
{
	(void)state;
	assert_ruby("Shop::Cart#total", "Shop::Cart#total");
	assert_ruby("Cart#total", "Shop::Cart#total");
	assert_ruby("#total", "Shop::Cart#total");
	assert_ruby(".open", "Shop.open");
	assert_ruby("total", "Shop::Cart#total");
	assert_ruby("total=", "Shop::Cart#total=");
	assert_ruby("open", "Shop.open");
	assert_ruby("sum", "Array#sum");
	assert_ruby("<<", "Integer#<<");
	assert_ruby("block in total", "block in Shop::Cart#total");
	assert_ruby("block in Cart#total", "block in Shop::Cart#total");
	assert_ruby("block (2 levels) in total", "block (2 levels) in Shop::Cart#total");
	assert_ruby("2 levels", "block (2 levels) in Shop::Cart#total");
	assert_ruby("<main>", "<main>");
}

static void functions_without_any_time_are_not_found(void **state)
{
	struct made made;
	struct found found;
	struct error err;

	(void)state;
	setup_python(&made);
	profile_info(made.profile)->is_folded = true;
	assert_int_equal(find_functions(made.profile, "Py_RunMain", &found, &err), -ENOENT);
	assert_string_equal(err.text,
			    "no function in this profile is named \"Py_RunMain\", and none has "
			    "it in its name (an interpreter's own functions are there with "
			    "--native)");
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exact_name_wins_over_longer_ones),
		cmocka_unit_test(functions_of_one_name_are_all_meant),
		cmocka_unit_test(a_method_is_found_without_its_class_and_parameters),
		cmocka_unit_test(a_shortened_name_is_found_as_it_is_shown),
		cmocka_unit_test(instances_of_a_template_are_all_meant_and_others_not),
		cmocka_unit_test(a_part_is_enough_when_only_one_has_it),
		cmocka_unit_test(a_part_that_several_have_is_refused_with_their_names),
		cmocka_unit_test(a_mistyped_name_is_refused_with_near_ones),
		cmocka_unit_test(an_unknown_name_is_refused),
		cmocka_unit_test(python_names_are_found_as_people_type_them),
		cmocka_unit_test(a_python_name_is_found_behind_its_modules),
		cmocka_unit_test(the_end_of_a_python_name_in_another_module_is_not_meant),
		cmocka_unit_test(ruby_names_are_found_as_people_type_them),
		cmocka_unit_test(functions_without_any_time_are_not_found),
		cmocka_unit_test(names_are_safe_to_print_in_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
