/* Every table comes back as it was written, byte by byte. */
#include "fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/keys.h"

static int check_process(void *context, const struct recording_process *row)
{
	unsigned *seen = context;

	assert_int_equal(row->id, ++*seen);
	if (row->id == 2) {
		assert_int_equal(row->parent, 1);
		assert_int_equal(row->pid, 4242);
		assert_string_equal(row->name, "odd\xff\xfename");
		assert_string_equal(row->exe, "/bin/\xc3\xa4");
		assert_int_equal(row->start_ns, 5);
		assert_int_equal(row->end_ns, 77);
		assert_int_equal(row->period_ns, RECORDING_UNKNOWN);
		assert_string_equal(row->unentered_reason, "static");
		assert_int_equal(row->exit_status, -1);
		assert_string_equal(row->title, "odd: \xff\xc3");
	}
	return 0;
}

static void processes_and_their_updates_come_back(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct error err = { "" };
	uint32_t id;
	unsigned seen = 0;
	struct recording_process process = { .parent = 1,
					     .pid = 4242,
					     .name = "odd\xff\xfename",
					     .exe = "/bin/\xc3\xa4",
					     .start_ns = 5,
					     .end_ns = RECORDING_UNKNOWN,
					     .period_ns = RECORDING_UNKNOWN,
					     .unentered_reason = NULL,
					     .exit_status = 0 };

	add_basics(writer, 1, 1);
	assert_int_equal(recording_writer_add_process(writer, &process, &id), 0);
	assert_int_equal(id, 2);
	process.id = id;
	process.end_ns = 77;
	process.exit_status = -1;
	process.unentered_reason = "static";
	process.title = "odd: \xff\xc3";
	assert_int_equal(recording_writer_update_process(writer, &process), 0);
	process.id = 9;
	assert_int_equal(recording_writer_update_process(writer, &process), -EINVAL);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	must(recording_reader_each_process(reader, check_process, &seen, &err), &err);
	assert_int_equal(seen, 2);
	recording_reader_close(reader);
}

static const struct recording_thread full_thread = { .id = 1,
						     .process = 1,
						     .tid = 12,
						     .name = "worker",
						     .start_ns = 1,
						     .end_ns = 2,
						     .cpu_ns = 3,
						     .startup_ns = 4,
						     .exit_ns = RECORDING_UNKNOWN,
						     .unentered_ns = 0,
						     .kernel_unsampled_ns = INT64_MAX,
						     .traced_ns = 11 };

static int check_thread(void *context, const struct recording_thread *row)
{
	assert_int_equal(row->id, 1);
	assert_int_equal(row->process, 1);
	assert_int_equal(row->tid, 12);
	assert_string_equal(row->name, "worker");
	assert_int_equal(row->start_ns, 1);
	assert_int_equal(row->end_ns, 2);
	assert_int_equal(row->cpu_ns, 3);
	assert_int_equal(row->startup_ns, 4);
	assert_int_equal(row->exit_ns, RECORDING_UNKNOWN);
	assert_int_equal(row->unentered_ns, 0);
	assert_int_equal(row->kernel_unsampled_ns, INT64_MAX);
	assert_int_equal(row->traced_ns, 11);
	++*(unsigned *)context;
	return 0;
}

static void a_threads_account_comes_back(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct error err = { "" };
	unsigned seen = 0;

	add_basics(writer, 1, 1);
	assert_int_equal(recording_writer_update_thread(writer, &full_thread), 0);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	must(recording_reader_each_thread(reader, check_thread, &seen, &err), &err);
	assert_int_equal(seen, 1);
	recording_reader_close(reader);
}

static int check_module(void *context, const struct recording_module *row)
{
	++*(unsigned *)context;
	if (row->id != 2)
		return 0;
	assert_int_equal(row->kind, MODULE_KIND_ELF);
	assert_string_equal(row->path, "/lib/x.so");
	assert_int_equal(row->build_id_len, 20);
	assert_memory_equal(row->build_id, "12345678901234567890", 20);
	return 0;
}

static int check_mapping(void *context, const struct recording_mapping *row)
{
	++*(unsigned *)context;
	assert_int_equal(row->process, 1);
	assert_int_equal(row->module, 2);
	assert_int_equal(row->start, 0xffffffffff600000);
	assert_int_equal(row->end, UINT64_MAX);
	assert_int_equal(row->file_offset, 0x8000000000000000);
	assert_int_equal(row->from_ns, 3);
	assert_int_equal(row->to_ns, 9);
	return 0;
}

static void modules_and_mappings_come_back(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct recording_module module = { .path = "/lib/x.so", .build_id_len = 20 };
	struct recording_module jit = { .kind = MODULE_KIND_JIT, .path = "//anon" };
	struct recording_mapping mapping = { .process = 1,
					     .module = 2,
					     .start = 0xffffffffff600000,
					     .end = UINT64_MAX,
					     .file_offset = 0x8000000000000000,
					     .from_ns = 3,
					     .to_ns = RECORDING_UNKNOWN };
	struct error err = { "" };
	uint32_t id, again;
	unsigned modules = 0, mappings = 0;

	memcpy(module.build_id, "12345678901234567890", 20);
	add_basics(writer, 1, 1);
	assert_int_equal(recording_writer_add_module(writer, &module, &id), 0);
	assert_int_equal(recording_writer_add_module(writer, &module, &again), 0);
	assert_int_equal(id, again);
	module.build_id[0] = 'x';
	assert_int_equal(recording_writer_add_module(writer, &module, &again), 0);
	assert_int_not_equal(id, again);
	assert_int_equal(recording_writer_add_module(writer, &jit, &id), 0);
	assert_int_equal(recording_writer_add_module(writer, &jit, &again), 0);
	assert_int_not_equal(id, again);
	assert_int_equal(recording_writer_add_mapping(writer, &mapping, &id), 0);
	assert_int_equal(recording_writer_end_mapping(writer, id, 9), 0);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	must(recording_reader_each_module(reader, check_module, &modules, &err), &err);
	must(recording_reader_each_mapping(reader, check_mapping, &mappings, &err), &err);
	assert_int_equal(modules, 5);
	assert_int_equal(mappings, 1);
	recording_reader_close(reader);
}

static int check_frame(void *context, const struct recording_frame *row)
{
	assert_int_equal(row->id, ++*(unsigned *)context);
	assert_int_equal(row->address, row->id == 1 ? 0x1000 : UINT64_MAX);
	return 0;
}

static int check_stack(void *context, const struct recording_stack *row)
{
	assert_int_equal(row->id, ++*(unsigned *)context);
	assert_int_equal(row->parent, row->id - 1);
	assert_int_equal(row->frame, row->id == 1 ? 1 : 2);
	return 0;
}

static void equal_frames_and_stacks_are_kept_once(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct recording_frame frame = { .module = 1, .address = UINT64_MAX };
	struct error err = { "" };
	uint32_t id, again;
	unsigned frames = 0, stacks = 0;

	add_basics(writer, 1, 1);
	assert_int_equal(recording_writer_add_frame(writer, &frame, &id), 0);
	assert_int_equal(recording_writer_add_frame(writer, &frame, &again), 0);
	assert_int_equal(id, again);
	struct recording_stack stack = { .parent = 1, .frame = id };
	assert_int_equal(recording_writer_add_stack(writer, &stack, &id), 0);
	assert_int_equal(recording_writer_add_stack(writer, &stack, &again), 0);
	assert_int_equal(id, again);
	stack.parent = 3;
	assert_int_equal(recording_writer_add_stack(writer, &stack, &id), -EINVAL);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	must(recording_reader_each_frame(reader, check_frame, &frames, &err), &err);
	must(recording_reader_each_stack(reader, check_stack, &stacks, &err), &err);
	assert_int_equal(frames, 2);
	assert_int_equal(stacks, 2);
	recording_reader_close(reader);
}

static int check_function(void *context, const struct recording_function *row)
{
	assert_int_equal(row->id, ++*(unsigned *)context);
	assert_int_equal(row->language, row->id == 1 ? 0 : 3);
	assert_int_equal(row->module, row->id == 1 ? 1 : 0);
	assert_string_equal(row->name, row->id == 1 ? "main" : "odd\xff");
	if (row->id == 1)
		assert_string_equal(row->file, "main.c");
	else
		assert_null(row->file);
	assert_int_equal(row->line, row->id == 1 ? 7 : 0);
	return 0;
}

static int check_location(void *context, const struct recording_location *row)
{
	assert_int_equal(row->depth, (*(unsigned *)context)++);
	assert_int_equal(row->frame, 1);
	assert_int_equal(row->function, 2 - row->depth);
	assert_string_equal(row->file, "main.c");
	assert_int_equal(row->line, 30 + row->depth);
	assert_int_equal(row->address, 0x401000);
	return 0;
}

static void symbols_come_back(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct recording_function function = {
		.module = 1, .name = "main", .file = "main.c", .line = 7
	};
	struct recording_function other = { .language = 3, .name = "odd\xff" };
	struct error err = { "" };
	uint32_t id, again;
	unsigned functions = 0, locations = 0;

	add_basics(writer, 1, 1);
	assert_int_equal(recording_writer_add_function(writer, &function, &id), 0);
	assert_int_equal(recording_writer_add_function(writer, &other, &again), 0);
	assert_int_equal(recording_writer_add_function(writer, &function, &again), 0);
	assert_int_equal(id, again);
	for (uint32_t depth = 0; depth < 2; depth++) {
		struct recording_location location = { .frame = 1,
						       .depth = depth,
						       .function = 2 - depth,
						       .file = "main.c",
						       .line = 30 + depth,
						       .address = 0x401000 };
		assert_int_equal(recording_writer_add_location(writer, &location), 0);
	}
	assert_int_equal(recording_writer_set(writer, KEY_SYMBOLIZED, "1"), 0);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	assert_true(recording_reader_is_symbolized(reader));
	must(recording_reader_each_function(reader, check_function, &functions, &err), &err);
	must(recording_reader_each_location(reader, check_location, &locations, &err), &err);
	assert_int_equal(functions, 2);
	assert_int_equal(locations, 2);
	recording_reader_close(reader);
}

static void the_last_value_of_a_fact_wins(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);

	assert_int_equal(recording_writer_set(writer, "command", "[\"a\"]"), 0);
	assert_int_equal(recording_writer_set_int(writer, "period_ns", 1), 0);
	assert_int_equal(recording_writer_set_int(writer, "period_ns", -7), 0);
	assert_int_equal(recording_writer_set(writer, "host", "x"), 0);
	assert_int_equal(recording_writer_set(writer, "host", "odd\xff"), 0);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	assert_string_equal(recording_reader_get(reader, "command"), "[\"a\"]");
	assert_string_equal(recording_reader_get(reader, "host"), "odd\xff");
	assert_string_equal(recording_reader_get(reader, "period_ns"), "-7");
	assert_int_equal(recording_reader_get_int(reader, "period_ns"), -7);
	assert_int_equal(recording_reader_get_int(reader, "command"), RECORDING_UNKNOWN);
	assert_null(recording_reader_get(reader, "no_such_fact"));
	assert_int_equal(recording_reader_get_int(reader, "no_such_fact"), RECORDING_UNKNOWN);
	assert_true(recording_reader_is_finished(reader));
	assert_false(recording_reader_is_being_written(reader));
	assert_false(recording_reader_is_symbolized(reader));
	recording_reader_close(reader);
}

static int check_lost(void *context, const char *reason, uint64_t samples)
{
	++*(unsigned *)context;
	assert_int_equal(samples, strcmp(reason, "full") == 0 ? 12 : 1);
	return 0;
}

static int check_note(void *context, const char *text)
{
	assert_string_equal(text, (*(unsigned *)context)++ == 0 ? "one" : "two");
	return 0;
}

static int check_file(void *context, const struct recording_file *row)
{
	bool is_empty = (*(unsigned *)context)++ == 1;

	assert_int_equal(row->process, is_empty ? 0 : 1);
	assert_string_equal(row->path, is_empty ? "/tmp/empty" : "/tmp/perf-1.map");
	assert_int_equal(row->len, is_empty ? 0 : 3);
	if (!is_empty)
		assert_memory_equal(row->data, "a\0b", 3);
	return 0;
}

static void losses_notes_and_files_come_back(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct error err = { "" };
	unsigned lost = 0, notes = 0, files = 0;

	add_basics(writer, 1, 1);
	assert_int_equal(recording_writer_add_lost(writer, "full", 5), 0);
	assert_int_equal(recording_writer_add_lost(writer, "cut", 1), 0);
	assert_int_equal(recording_writer_add_lost(writer, "full", 7), 0);
	assert_int_equal(recording_writer_note(writer, "one"), 0);
	assert_int_equal(recording_writer_note(writer, "two"), 0);
	assert_int_equal(recording_writer_add_file(writer, 1, "/tmp/perf-1.map", "a\0b", 3), 0);
	assert_int_equal(recording_writer_add_file(writer, 0, "/tmp/empty", NULL, 0), 0);
	assert_int_equal(recording_writer_add_file(writer, 0, "/huge", "", (size_t)1 << 40),
			 -EFBIG);
	finish(writer);
	struct recording_reader *reader = open_reading(path);
	must(recording_reader_each_lost(reader, check_lost, &lost, &err), &err);
	must(recording_reader_each_note(reader, check_note, &notes, &err), &err);
	must(recording_reader_each_file(reader, check_file, &files, &err), &err);
	assert_int_equal(lost, 2);
	assert_int_equal(notes, 2);
	assert_int_equal(files, 2);
	recording_reader_close(reader);
}

static int check_calls(void *context, const struct recording_calls *row)
{
	unsigned *seen = context;

	++*seen;
	assert_int_equal(row->id, *seen);
	assert_int_equal(row->thread, 2);
	assert_int_equal(row->stack, *seen == 1 ? 3 : 0);
	assert_int_equal(row->calls, *seen == 1 ? 70 : 0);
	assert_int_equal(row->self_ns, *seen == 1 ? 900 : 5);
	assert_int_equal(row->shortest_ns, *seen == 1 ? 8 : RECORDING_UNKNOWN);
	assert_int_equal(row->longest_ns, *seen == 1 ? 90 : RECORDING_UNKNOWN);
	assert_int_equal(row->kind, *seen == 1 ? 2 : 0);
	assert_int_equal(row->misses, *seen == 1 ? 4 : 0);
	for (uint64_t i = 0; i < RECORDING_UNCOUNTED_KINDS; i++)
		assert_int_equal(row->uncounted[i], *seen == 1 ? 5 + i : 0);
	assert_int_equal(row->left_out_ns, *seen == 1 ? 0 : 33);
	return 0;
}

static int check_cost(void *context, const struct recording_cost *row)
{
	unsigned *seen = context;

	++*seen;
	assert_int_equal(row->process, 1);
	assert_int_equal(row->kind, 2);
	assert_int_equal(row->inside_ps, 20500);
	assert_int_equal(row->outside_ps, -300);
	assert_int_equal(row->inside_miss_ps, 21000);
	assert_int_equal(row->outside_miss_ps, 12000);
	assert_int_equal(row->spread_ps, 900);
	assert_int_equal(row->stretch_permille, 1150);
	assert_int_equal(row->pace_permille, 1310);
	return 0;
}

static void what_a_call_costs_comes_back(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct recording_cost cost = { .process = 1,
				       .kind = 2,
				       .inside_ps = 10250,
				       .outside_ps = -300,
				       .inside_miss_ps = 21000,
				       .outside_miss_ps = 12000,
				       .spread_ps = 900,
				       .stretch_permille = 1150,
				       .pace_permille = 1310 };
	struct error err = { "" };
	unsigned seen = 0;

	add_basics(writer, 2, 30);
	must(recording_writer_add_cost(writer, &cost, &cost.id), &err);
	cost.inside_ps = 20500;
	must(recording_writer_update_cost(writer, &cost), &err);
	cost.id++;
	assert_int_equal(recording_writer_update_cost(writer, &cost), -EINVAL);
	cost.process = 99;
	assert_int_equal(recording_writer_add_cost(writer, &cost, &cost.id), -EINVAL);
	finish(writer);
	struct recording_reader *reader = open_reading(path);

	must(recording_reader_each_cost(reader, check_cost, &seen, &err), &err);
	assert_int_equal(seen, 1);
	assert_false(recording_reader_has_calls(reader));
	recording_reader_close(reader);
}

static void calls_and_their_updates_come_back(void **state)
{
	const char *path = in_folder(state, "a.fathom");
	struct recording_writer *writer = create(path);
	struct recording_calls calls = { .thread = 2,
					 .stack = 3,
					 .calls = 7,
					 .self_ns = 90,
					 .shortest_ns = RECORDING_UNKNOWN,
					 .longest_ns = RECORDING_UNKNOWN };
	const struct recording_calls outside = { .thread = 2,
						 .self_ns = 5,
						 .left_out_ns = 33,
						 .shortest_ns = RECORDING_UNKNOWN,
						 .longest_ns = RECORDING_UNKNOWN };
	struct error err = { "" };
	unsigned seen = 0;
	uint32_t id = 0;

	add_basics(writer, 2, 30);
	must(recording_writer_add_calls(writer, &calls, &calls.id), &err);
	must(recording_writer_add_calls(writer, &outside, &id), &err);
	calls.calls = 70;
	calls.self_ns = 900;
	calls.shortest_ns = 8;
	calls.longest_ns = 90;
	calls.kind = 2;
	calls.misses = 4;
	for (uint64_t i = 0; i < RECORDING_UNCOUNTED_KINDS; i++)
		calls.uncounted[i] = 5 + i;
	must(recording_writer_update_calls(writer, &calls), &err);
	calls.stack = 999;
	assert_int_equal(recording_writer_update_calls(writer, &calls), -EINVAL);
	calls.thread = 0;
	assert_int_equal(recording_writer_add_calls(writer, &calls, &id), -EINVAL);
	finish(writer);
	struct recording_reader *reader = open_reading(path);

	must(recording_reader_each_calls(reader, check_calls, &seen, &err), &err);
	assert_int_equal(seen, 2);
	recording_reader_close(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(processes_and_their_updates_come_back),
		TEST(a_threads_account_comes_back),
		TEST(modules_and_mappings_come_back),
		TEST(equal_frames_and_stacks_are_kept_once),
		TEST(symbols_come_back),
		TEST(calls_and_their_updates_come_back),
		TEST(what_a_call_costs_comes_back),
		TEST(the_last_value_of_a_fact_wins),
		TEST(losses_notes_and_files_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
