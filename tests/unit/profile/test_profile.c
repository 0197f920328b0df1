#include "cmocka_all.h"

#include <string.h>

#include "made.h"

static void the_same_content_has_the_same_id(void **state)
{
	struct profile *p = profile_new();
	struct module_id libz =
		profile_add_module(p, &(struct module){ .path = "/lib/libz.so" });
	struct function f = { .module = libz, .name = "f", .file = "f.c", .line = 3 };
	struct function_id f_id = profile_add_function(p, &f);
	struct frame frame = { .function = f_id, .line = 5, .address = 0x100000010 };
	struct frame_id frame_id = profile_add_frame(p, &frame);
	struct stack_id stack = profile_add_stack(p, (struct stack_id){ 0 }, frame_id);

	(void)state;
	assert_int_equal(profile_add_module(p, &(struct module){ .path = "/lib/libz.so" }).n,
			 libz.n);
	assert_int_equal(profile_add_function(p, &f).n, f_id.n);
	assert_int_equal(profile_add_frame(p, &frame).n, frame_id.n);
	assert_int_equal(profile_add_stack(p, (struct stack_id){ 0 }, frame_id).n, stack.n);
	assert_int_not_equal(profile_add_stack(p, stack, frame_id).n, stack.n);
	profile_free(p);
}

static void many_stacks_are_each_there_once(void **state)
{
	struct profile *p = profile_new();
	struct frame_id frames[2];
	(void)state;

	for (uint32_t i = 0; i < 2; i++)
		frames[i] = profile_add_frame(p, &(struct frame){ .line = i + 1 });
	/* A whole binary tree, twice: the stack of a path is its number, as in a heap. */
	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint32_t path = 1; path < 1 << 16; path++)
			assert_int_equal(profile_add_stack(p, (struct stack_id){ path / 2 },
							   frames[path & 1])
						 .n,
					 path);
	}
	assert_int_equal(profile_stack_count(p), (1 << 16) - 1);
	assert_int_equal(profile_get_stack(p, (struct stack_id){ 0x8001 })->depth, 16);
	profile_free(p);
}

static void every_part_of_a_function_distinguishes_it(void **state)
{
	struct profile *p = profile_new();
	struct module_id module = profile_add_module(p, &(struct module){ .path = "m" });
	const struct function functions[] = {
		{ .name = "f" },
		{ .name = "g" },
		{ .name = "f", .language = LANGUAGE_PYTHON },
		{ .name = "f", .module = module },
		{ .name = "f", .file = "f.c" },
		{ .name = "f", .file = "" },
		{ .name = "f", .line = 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		assert_int_equal(profile_add_function(p, &functions[i]).n, i + 1);
	profile_free(p);
}

static void every_part_of_a_frame_distinguishes_it(void **state)
{
	struct profile *p = profile_new();
	struct function_id f = profile_add_function(p, &(struct function){ .name = "f" });
	struct function_id g = profile_add_function(p, &(struct function){ .name = "g" });
	const struct frame frames[] = {
		{ .function = f },
		{ .function = g },
		{ .function = f, .line = 1 },
		{ .function = f, .file = "f.h" },
		{ .function = f, .address = 1 },
		{ .function = f, .address = 1ull << 32 },
		{ .function = f, .is_inlined = true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
		assert_int_equal(profile_add_frame(p, &frames[i]).n, i + 1);
	profile_free(p);
}

static void a_build_id_distinguishes_two_files_of_one_path(void **state)
{
	struct profile *p = profile_new();
	struct module a = { .path = "a.out", .build_id = { 1, 2 }, .build_id_len = 2 };
	struct module b = { .path = "a.out", .build_id = { 1, 3 }, .build_id_len = 2 };
	struct module too_long = { .path = "b.out", .build_id_len = 255 };

	(void)state;
	assert_int_not_equal(profile_add_module(p, &a).n, profile_add_module(p, &b).n);
	struct module_id id = profile_add_module(p, &too_long);
	assert_int_equal(profile_get_module(p, id)->build_id_len, 20);
	profile_free(p);
}

static void strings_are_copied(void **state)
{
	struct profile *p = profile_new();
	char name[] = "worker";
	struct process_id process = profile_add_process(
		p, &(struct process){ .pid = 7, .name = name, .unentered_reason = name });
	struct thread_id thread = profile_add_thread(
		p, &(struct thread){ .process = process, .tid = 8, .name = name });
	const char *copy = profile_copy_string(p, name);

	(void)state;
	memset(name, 'x', sizeof name - 1);
	assert_string_equal(profile_get_process(p, process)->name, "worker");
	assert_string_equal(profile_get_process(p, process)->unentered_reason, "worker");
	assert_string_equal(profile_get_thread(p, thread)->name, "worker");
	assert_string_equal(copy, "worker");
	assert_null(profile_copy_string(p, NULL));
	profile_free(p);
}

static void processes_and_threads_are_always_new(void **state)
{
	struct profile *p = profile_new();
	struct process process = { .pid = 7, .name = "make" };

	(void)state;
	assert_int_equal(profile_add_process(p, &process).n, 1);
	assert_int_equal(profile_add_process(p, &process).n, 2);
	profile_free(p);
}

static void a_weight_added_twice_is_summed(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main;f", 10, 1);
	made_add(&made, "main;f", 32, 2);
	made_begin_thread(&made, 101, "other");
	made_add(&made, "main;f", 5, 1);
	assert_int_equal(profile_weight_count(made.profile), 2);
	assert_int_equal(profile_get_weight(made.profile, 0)->ns, 42);
	assert_int_equal(profile_get_weight(made.profile, 0)->samples, 3);
	assert_int_equal(profile_get_weight(made.profile, 1)->ns, 5);
	made_done(&made);
}

static void states_are_kept_apart(void **state)
{
	struct made made;
	struct weight weight = { .ns = 1 };

	(void)state;
	made_init(&made);
	weight.stack = made_stack(&made, "main");
	profile_add_weight(made.profile, &weight);
	weight.state = THREAD_STATE_LOCK;
	profile_add_weight(made.profile, &weight);
	assert_int_equal(profile_weight_count(made.profile), 2);
	made_done(&made);
}

static void a_sum_that_does_not_fit_stays_at_the_largest_and_says_so(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	made_add(&made, "main", UINT64_MAX - 1, 1);
	assert_false(profile_is_saturated(made.profile));
	made_add(&made, "main", 1, 1);
	assert_false(profile_is_saturated(made.profile));
	made_add(&made, "main", 1, 1);
	assert_true(profile_is_saturated(made.profile));
	assert_true(profile_get_weight(made.profile, 0)->ns == UINT64_MAX);
	made_done(&made);
}

static void ids_that_are_not_there_give_nothing(void **state)
{
	struct profile *p = profile_new();
	const uint32_t ids[] = { 0, 1, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint32_t n = ids[i];
		assert_null(profile_get_module(p, (struct module_id){ n }));
		assert_null(profile_get_function(p, (struct function_id){ n }));
		assert_null(profile_get_frame(p, (struct frame_id){ n }));
		assert_null(profile_get_stack(p, (struct stack_id){ n }));
		assert_null(profile_get_process(p, (struct process_id){ n }));
		assert_null(profile_get_thread(p, (struct thread_id){ n }));
		assert_null(profile_get_weight(p, n));
	}
	profile_free(p);
}

static const char *function_name(const struct profile *p, struct stack_id id)
{
	const struct frame *frame = profile_get_frame(p, profile_get_stack(p, id)->frame);

	return profile_get_function(p, frame->function)->name;
}

static void time_without_a_stack_is_not_dropped(void **state)
{
	struct profile *p = profile_new();

	(void)state;
	profile_add_weight(p, &(struct weight){ .ns = 5 });
	profile_add_weight(p, &(struct weight){ .ns = 6, .stack = { 999 }, .thread = { 9 } });
	assert_int_equal(profile_weight_count(p), 1);
	const struct weight *weight = profile_get_weight(p, 0);
	assert_int_equal(weight->ns, 11);
	assert_int_equal(weight->thread.n, 0);
	assert_string_equal(function_name(p, weight->stack), "[no stack]");
	profile_free(p);
}

static void ids_of_no_profile_count_as_none(void **state)
{
	struct profile *p = profile_new();
	struct frame_id frame =
		profile_add_frame(p, &(struct frame){ .function = { 4711 }, .line = 1 });
	struct stack_id stack =
		profile_add_stack(p, (struct stack_id){ 4711 }, (struct frame_id){ 4711 });
	struct function_id function =
		profile_add_function(p, &(struct function){ .name = "f", .module = { 4711 } });

	(void)state;
	assert_string_equal(
		profile_get_function(p, profile_get_frame(p, frame)->function)->name,
		"[unknown]");
	assert_string_equal(function_name(p, stack), "[unknown]");
	assert_int_equal(profile_get_stack(p, stack)->parent.n, 0);
	assert_int_equal(profile_get_function(p, function)->module.n, 0);
	profile_free(p);
}

static void depth_counts_from_the_outermost_frame(void **state)
{
	struct made made;

	(void)state;
	made_init(&made);
	struct stack_id id = made_stack(&made, "a;b;c");
	assert_int_equal(profile_get_stack(made.profile, id)->depth, 3);
	made_done(&made);
}

static void a_new_profile_claims_no_figures(void **state)
{
	struct profile *p = profile_new();

	(void)state;
	assert_true(profile_get_info(p)->kernel_cpu_ns == FIGURE_UNKNOWN);
	assert_true(profile_get_info(p)->sampling_cost_ns == FIGURE_UNKNOWN);
	assert_true(profile_get_info(p)->start_unix_ns == FIGURE_UNKNOWN);
	assert_false(profile_get_info(p)->has_unexplained);
	profile_info(p)->samples = 3;
	assert_int_equal(profile_get_info(p)->samples, 3);
	profile_free(p);
}

static void languages_have_the_names_of_the_json(void **state)
{
	(void)state;
	assert_string_equal(language_name(LANGUAGE_NATIVE), "native");
	assert_string_equal(language_name(LANGUAGE_PYTHON), "python");
	assert_string_equal(language_name(LANGUAGE_RUBY), "ruby");
	assert_string_equal(language_name(LANGUAGE_KERNEL), "kernel");
	assert_string_equal(language_name(LANGUAGE_FATHOM), "fathom");
	assert_string_equal(language_title(LANGUAGE_RUBY), "Ruby");
	assert_null(language_title(LANGUAGE_NATIVE));
}

static void a_builtin_is_what_an_interpreter_names_and_has_no_source(void **state)
{
	static const struct {
		struct function function;
		bool is_builtin;
	} cases[] = {
		{ { .language = LANGUAGE_PYTHON, .name = "math.sin" }, true },
		{ { .language = LANGUAGE_RUBY, .name = "Integer#times" }, true },
		{ { .language = LANGUAGE_RUBY, .name = "[garbage collection: marking]" },
		  true },
		{ { .language = LANGUAGE_RUBY, .name = "[unknown Ruby method]" }, false },
		{ { .language = LANGUAGE_PYTHON, .name = "[unknown Python function]" }, false },
		{ { .language = LANGUAGE_RUBY, .name = "a", .file = "-e" }, false },
		{ { .language = LANGUAGE_PYTHON, .name = "a", .line = 1 }, false },
		{ { .language = LANGUAGE_NATIVE, .name = "sin" }, false },
		{ { .language = LANGUAGE_FATHOM, .name = "[exit]" }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (function_is_builtin(&cases[i].function) != cases[i].is_builtin)
			fail_msg("%s", cases[i].function.name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_builtin_is_what_an_interpreter_names_and_has_no_source),
		cmocka_unit_test(the_same_content_has_the_same_id),
		cmocka_unit_test(many_stacks_are_each_there_once),
		cmocka_unit_test(every_part_of_a_function_distinguishes_it),
		cmocka_unit_test(every_part_of_a_frame_distinguishes_it),
		cmocka_unit_test(a_build_id_distinguishes_two_files_of_one_path),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(processes_and_threads_are_always_new),
		cmocka_unit_test(a_weight_added_twice_is_summed),
		cmocka_unit_test(states_are_kept_apart),
		cmocka_unit_test(a_sum_that_does_not_fit_stays_at_the_largest_and_says_so),
		cmocka_unit_test(ids_that_are_not_there_give_nothing),
		cmocka_unit_test(time_without_a_stack_is_not_dropped),
		cmocka_unit_test(ids_of_no_profile_count_as_none),
		cmocka_unit_test(depth_counts_from_the_outermost_frame),
		cmocka_unit_test(a_new_profile_claims_no_figures),
		cmocka_unit_test(languages_have_the_names_of_the_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
