#include "cmocka_all.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "example.h"
#include "report/report.h"

/* The report read back by json-c; the test's to put. */
static struct json_object *report_of(const struct made *made,
				     const struct report_options *options)
{
	struct text text = { 0 };

	assert_int_equal(report_json(made->profile, options, &text, NULL), 0);
	struct json_object *root = json_tokener_parse(text_string(&text));
	assert_non_null(root);
	assert_int_equal(text.data[text.len - 1], '\n');
	text_done(&text);
	return root;
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(object, key, &value))
		fail_msg("there is no %s in %s", key, json_object_to_json_string(object));
	return value;
}

static uint64_t number(struct json_object *object, const char *key)
{
	return json_object_get_uint64(member(object, key));
}

static const char *string(struct json_object *object, const char *key)
{
	return json_object_get_string(member(object, key));
}

static struct json_object *named(struct json_object *rows, const char *name)
{
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		const char *found = string(row, "name");
		if (found && strcmp(found, name) == 0)
			return row;
	}
	fail_msg("no row is named %s", name);
	return NULL;
}

static uint64_t sum_of(struct json_object *rows, const char *key)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(rows); i++)
		sum += number(json_object_array_get_idx(rows, i), key);
	return sum;
}

static void the_account_and_the_functions_add_up_to_the_total(void **state)
{
	struct made made;

	(void)state;
	example_init(&made);
	struct json_object *root = report_of(&made, &(struct report_options){ 0 });
	struct json_object *recording = member(root, "recording");
	assert_int_equal(number(root, "schema"), 1);
	assert_int_equal(number(root, "total_ns"), 5080000000);
	assert_int_equal(sum_of(member(root, "functions"), "self_ns"), 5080000000);
	assert_int_equal(number(recording, "sampled_ns") + number(recording, "startup_ns") +
				 number(recording, "exit_ns") +
				 number(recording, "unentered_ns") +
				 number(recording, "kernel_unsampled_ns") +
				 number(recording, "traced_ns"),
			 5080000000);
	assert_int_equal(number(recording, "kernel_cpu_ns"),
			 5080000000 + number(recording, "unexplained_ns"));
	assert_null(member(root, "filter"));
	json_object_put(root);
	made_done(&made);
}

static void a_function_has_every_field_of_the_contract(void **state)
{
	struct made made;

	(void)state;
	example_init(&made);
	struct json_object *root = report_of(&made, &(struct report_options){ 0 });
	struct json_object *row = named(member(root, "functions"), "dictFind");
	assert_string_equal(string(row, "language"), "native");
	assert_string_equal(string(row, "module"), "/usr/bin/redis-server");
	assert_string_equal(string(row, "file"), "src/dict.c");
	assert_int_equal(number(row, "line"), 500);
	assert_int_equal(number(row, "self_ns"), 1520000000);
	assert_int_equal(number(row, "total_ns"), 2160000000);
	assert_int_equal(number(row, "self_samples"), 1520);
	assert_int_equal(number(row, "total_samples"), 2160);
	assert_int_equal(number(row, "id"), made_function(&made, "dictFind").n);
	row = named(member(root, "functions"), "[start-up]");
	assert_string_equal(string(row, "language"), "fathom");
	assert_null(member(row, "module"));
	assert_null(member(row, "file"));
	assert_null(member(row, "line"));
	assert_int_equal(number(row, "self_samples"), 0);
	json_object_put(root);
	made_done(&made);
}

static void what_is_for_the_eye_changes_nothing(void **state)
{
	struct made made;
	struct text plain = { 0 };
	struct text asked = { 0 };
	const struct report_options options = { .sort = REPORT_SORT_TOTAL,
						.max_rows = 1,
						.has_min_percent = true,
						.min_percent = 50,
						.width = 20,
						.has_color = true,
						.is_summary = true };

	(void)state;
	example_init(&made);
	assert_int_equal(report_json(made.profile, &(struct report_options){ 0 }, &plain, NULL),
			 0);
	assert_int_equal(report_json(made.profile, &options, &asked, NULL), 0);
	assert_string_equal(text_string(&plain), text_string(&asked));
	text_done(&plain);
	text_done(&asked);
	made_done(&made);
}

static void filters_apply(void **state)
{
	struct made made;

	(void)state;
	example_init(&made);
	struct json_object *root =
		report_of(&made, &(struct report_options){ .thread = "bio_lazy_free" });
	assert_int_equal(number(root, "total_ns"), 280000000);
	assert_int_equal(sum_of(member(root, "functions"), "self_ns"), 280000000);
	assert_int_equal(json_object_array_length(member(root, "functions")), 4);
	struct json_object *filter = member(root, "filter");
	assert_string_equal(string(filter, "thread"), "bio_lazy_free");
	assert_null(member(filter, "module"));
	assert_int_equal(number(filter, "whole_ns"), 5080000000);
	json_object_put(root);
	made_done(&made);
}

static void every_grouping_adds_up_to_the_total(void **state)
{
	static const char *const keys[GROUP_BY_COUNT] = {
		"functions", "lines",   "modules",   "packages", "regions",
		"states",    "threads", "processes", "programs"
	};
	struct made made;

	(void)state;
	example_init(&made);
	profile_info(made.profile)->is_wall = true;
	for (int by = 0; by < GROUP_BY_COUNT; by++) {
		struct json_object *root =
			report_of(&made, &(struct report_options){ .by = (enum group_by)by });
		assert_int_equal(sum_of(member(root, keys[by]), "self_ns"), 5080000000);
		assert_int_equal(sum_of(member(root, "functions"), "self_ns"), 5080000000);
		json_object_put(root);
	}
	made_done(&made);
}

static void processes_say_why_they_were_not_entered(void **state)
{
	struct made made;

	(void)state;
	example_init(&made);
	struct json_object *root =
		report_of(&made, &(struct report_options){ .by = GROUP_BY_PROCESS });
	struct json_object *row = named(member(root, "processes"), "busybox");
	assert_int_equal(number(row, "pid"), 4242);
	assert_int_equal(number(row, "parent_pid"), 4200);
	assert_int_equal(number(row, "cpu_ns"), 100000000);
	assert_string_equal(string(row, "unentered_reason"), "it is statically linked");
	assert_null(member(row, "period_ns"));
	row = named(member(root, "processes"), "redis-server");
	assert_int_equal(number(row, "period_ns"), 999983);
	assert_null(member(row, "parent_pid"));
	assert_null(member(row, "unentered_reason"));
	json_object_put(root);
	made_done(&made);
}

static void programs_say_how_many_processes_they_had(void **state)
{
	struct made made;

	(void)state;
	example_init(&made);
	struct json_object *root =
		report_of(&made, &(struct report_options){ .by = GROUP_BY_PROGRAM });
	struct json_object *row = named(member(root, "programs"), "busybox");
	assert_int_equal(number(row, "processes"), 1);
	assert_int_equal(number(row, "entered"), 0);
	assert_int_equal(number(row, "brief"), 0);
	assert_int_equal(number(row, "cpu_ns"), 100000000);
	assert_string_equal(string(row, "unentered_reason"), "it is statically linked");
	row = named(member(root, "programs"), "redis-server");
	assert_int_equal(number(row, "entered"), 1);
	assert_null(member(row, "unentered_reason"));
	json_object_put(root);
	made_done(&made);
}

static void modules_have_their_build_id(void **state)
{
	struct made made;
	struct profile *p;

	(void)state;
	made_init(&made);
	p = made.profile;
	struct module_id module = profile_add_module(
		p, &(struct module){
			   .path = "/lib/a.so", .build_id = { 0xab, 1 }, .build_id_len = 2 });
	struct function_id f =
		profile_add_function(p, &(struct function){ .name = "f", .module = module });
	struct frame_id frame = profile_add_frame(p, &(struct frame){ .function = f });
	struct stack_id stack = profile_add_stack(p, (struct stack_id){ 0 }, frame);
	profile_add_weight(p, &(struct weight){ .stack = stack, .ns = 1 });
	struct json_object *root =
		report_of(&made, &(struct report_options){ .by = GROUP_BY_MODULE });
	assert_string_equal(string(named(member(root, "modules"), "/lib/a.so"), "build_id"),
			    "ab01");
	json_object_put(root);
	made_done(&made);
}

static void numbers_of_64_bits_keep_every_digit(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "f", UINT64_MAX - 6, UINT64_MAX - 7);
	profile_info(made.profile)->kernel_cpu_ns = UINT64_MAX - 1;
	profile_info(made.profile)->unexplained_ns = INT64_MIN;
	profile_info(made.profile)->has_unexplained = true;
	struct json_object *root = report_of(&made, &(struct report_options){ 0 });
	struct json_object *row = named(member(root, "functions"), "f");
	struct json_object *recording = member(root, "recording");
	assert_true(number(row, "self_ns") == UINT64_MAX - 6);
	assert_true(number(row, "total_samples") == UINT64_MAX - 7);
	assert_true(number(recording, "kernel_cpu_ns") == UINT64_MAX - 1);
	assert_true(json_object_get_int64(member(recording, "unexplained_ns")) == INT64_MIN);
	json_object_put(root);
	made_done(&made);
}

static void what_is_not_known_is_null(void **state)
{
	static const char *const keys[] = { "mode",
					    "clock",
					    "rate_hz",
					    "period_ns",
					    "trigger",
					    "trigger_why",
					    "wall_ns",
					    "start_unix_ns",
					    "kernel_cpu_ns",
					    "startup_ns",
					    "exit_ns",
					    "unentered_ns",
					    "kernel_unsampled_ns",
					    "traced_ns",
					    "paused_ns",
					    "unexplained_ns",
					    "sampling_cost_ns",
					    "fathom_version",
					    "host" };
	struct made made;

	(void)state;
	made_init(&made);
	struct profile_info *info = profile_info(made.profile);
	info->wall_ns = FIGURE_UNKNOWN;
	info->startup_ns = FIGURE_UNKNOWN;
	info->exit_ns = FIGURE_UNKNOWN;
	info->unentered_ns = FIGURE_UNKNOWN;
	info->kernel_unsampled_ns = FIGURE_UNKNOWN;
	info->traced_ns = FIGURE_UNKNOWN;
	struct json_object *root = report_of(&made, &(struct report_options){ 0 });
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		assert_null(member(member(root, "recording"), keys[i]));
	json_object_put(root);
	made_done(&made);
}

static void bytes_that_are_no_utf8_are_escaped_and_json_escapes_the_rest(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	made_init(&made);
	made_add(&made, "/tmp/\xfe.so!caf\xc3\xa9\xff", 1, 1);
	made_add(&made, "a\x1b\n", 1, 1);
	assert_int_equal(report_json(made.profile, &(struct report_options){ 0 }, &text, NULL),
			 0);
	assert_non_null(strstr(text_string(&text), "\"name\": \"caf\xc3\xa9\\\\xff\""));
	assert_non_null(strstr(text_string(&text), "\"name\": \"a\\u001b\\n\""));
	assert_non_null(strstr(text_string(&text), "\"module\": \"/tmp/\\\\xfe.so\""));
	text_done(&text);
	made_done(&made);
}

static void tree_nodes_stand_after_their_parents(void **state)
{
	struct made made;

	(void)state;
	example_init(&made);
	struct json_object *root =
		report_of(&made, &(struct report_options){ .has_tree = true });
	struct json_object *tree = member(root, "tree");
	assert_null(member(json_object_array_get_idx(tree, 0), "parent"));
	for (size_t i = 1; i < json_object_array_length(tree); i++) {
		struct json_object *node = json_object_array_get_idx(tree, i);
		assert_int_equal(number(node, "id"), i);
		assert_true(number(node, "parent") < i);
	}
	assert_int_equal(sum_of(tree, "self_ns"), 5080000000);
	json_object_put(root);
	made_done(&made);
}

static void callers_and_callees_share_out_the_total(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;a;work", 30, 3);
	made_add(&made, "main;b;work;leaf", 70, 7);
	struct json_object *root = report_of(
		&made, &(struct report_options){ .callers = "work", .callees = "work" });
	struct json_object *callers = member(root, "callers");
	struct json_object *callees = member(root, "callees");
	assert_string_equal(string(callers, "name"), "work");
	assert_int_equal(json_object_get_uint64(
				 json_object_array_get_idx(member(callers, "functions"), 0)),
			 made_function(&made, "work").n);
	struct json_object *nodes = member(callers, "nodes");
	assert_int_equal(number(json_object_array_get_idx(nodes, 0), "total_ns"), 100);
	assert_int_equal(number(named(nodes, "a"), "total_ns"), 30);
	assert_int_equal(number(named(nodes, "b"), "total_ns"), 70);
	assert_int_equal(number(named(nodes, "b"), "total_samples"), 7);
	nodes = member(callees, "nodes");
	assert_int_equal(number(json_object_array_get_idx(nodes, 0), "self_ns"), 30);
	assert_int_equal(number(named(nodes, "leaf"), "self_ns"), 70);
	json_object_put(root);
	made_done(&made);
}

static void a_name_that_means_nothing_is_refused_and_nothing_is_written(void **state)
{
	static const struct report_options options[] = {
		{ .callers = "none at all" },
		{ .callees = "none at all" },
		{ .thread = "none at all" },
		{ .module = "none at all" },
	};
	struct made made;
	struct text text = { 0 };

	(void)state;
	example_init(&made);
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		struct error err;
		assert_true(report_json(made.profile, &options[i], &text, &err) < 0);
		assert_non_null(strstr(err.text, "\"none at all\""));
		assert_int_equal(text.len, 0);
	}
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_account_and_the_functions_add_up_to_the_total),
		cmocka_unit_test(a_function_has_every_field_of_the_contract),
		cmocka_unit_test(what_is_for_the_eye_changes_nothing),
		cmocka_unit_test(filters_apply),
		cmocka_unit_test(every_grouping_adds_up_to_the_total),
		cmocka_unit_test(processes_say_why_they_were_not_entered),
		cmocka_unit_test(programs_say_how_many_processes_they_had),
		cmocka_unit_test(modules_have_their_build_id),
		cmocka_unit_test(numbers_of_64_bits_keep_every_digit),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(bytes_that_are_no_utf8_are_escaped_and_json_escapes_the_rest),
		cmocka_unit_test(tree_nodes_stand_after_their_parents),
		cmocka_unit_test(callers_and_callees_share_out_the_total),
		cmocka_unit_test(a_name_that_means_nothing_is_refused_and_nothing_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
