#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "by_hand.h"
#include "load/late_names.h"
#include "load/load.h"
#include "profile/profile.h"
#include "record/keys.h"
#include "record/reader.h"
#include "record/writer.h"
#include "target/maps.h"

static struct profile *load_as(const char *name, const struct load_options *options,
			       struct notes *notes)
{
	CLEANUP(late_names_freep) struct late_names *late = NULL;
	struct profile *profile = NULL;
	struct error err;

	if (load_recording(by_hand_path(name), options, notes, &profile, &late, &err) < 0)
		fail_msg("%s", err.text);
	late_names_keep(late, by_hand_path(name), profile, notes);
	return profile;
}

static struct profile *load(const char *name, struct notes *notes)
{
	return load_as(name, NULL, notes);
}

static const char *function_name(const struct profile *profile, struct stack_id stack)
{
	struct frame_id frame = profile_get_stack(profile, stack)->frame;

	return profile_get_function(profile, profile_get_frame(profile, frame)->function)->name;
}

static const struct frame *frame_of(const struct profile *profile, struct stack_id stack)
{
	return profile_get_frame(profile, profile_get_stack(profile, stack)->frame);
}

static bool is_symbolized(const char *name)
{
	struct recording_reader *reader = NULL;
	struct error err;

	if (recording_reader_open(by_hand_path(name), &reader, &err) < 0)
		fail_msg("%s", err.text);
	bool is = recording_reader_is_symbolized(reader);

	recording_reader_close(reader);
	return is;
}

static bool has_note(const struct profile *profile, const char *part)
{
	const struct profile_info *info = profile_get_info(profile);

	for (size_t i = 0; i < info->note_count; i++)
		if (strstr(info->notes[i], part))
			return true;
	return false;
}

static void an_inlined_call_is_a_frame_of_its_own(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct recording_writer *writer = by_hand_create("inlined.fathom");

	(void)state;
	by_hand_add_thread(writer);
	uint32_t module = by_hand_add_module(writer, MODULE_KIND_ELF, "/bin/prog");
	uint32_t outer = by_hand_add_stack(writer, 0, module, 0x100);

	by_hand_add_samples(writer, by_hand_add_stack(writer, outer, module, 0x200), 3, 1000);
	by_hand_name_frame(writer, 1, 0, "main", 12);
	by_hand_name_frame(writer, 2, 1, "work", 22);
	by_hand_name_frame(writer, 2, 0, "helper", 32);
	recording_writer_set(writer, KEY_SYMBOLIZED, "1");
	by_hand_close(writer);

	CLEANUP(profile_freep) struct profile *profile = load("inlined.fathom", notes);

	assert_int_equal(profile_weight_count(profile), 1);
	const struct weight *weight = profile_get_weight(profile, 0);
	struct stack_id helper = weight->stack;
	struct stack_id work = profile_get_stack(profile, helper)->parent;
	struct stack_id top = profile_get_stack(profile, work)->parent;

	assert_int_equal(weight->ns, 3000);
	assert_int_equal(weight->samples, 3);
	assert_string_equal(function_name(profile, helper), "helper");
	assert_string_equal(function_name(profile, work), "work");
	assert_string_equal(function_name(profile, top), "main");
	assert_true(frame_of(profile, helper)->is_inlined);
	assert_false(frame_of(profile, work)->is_inlined);
	assert_int_equal(frame_of(profile, helper)->line, 32);
	assert_int_equal(frame_of(profile, work)->address, 0x400002);
	assert_null(frame_of(profile, work)->file);
	assert_int_equal(profile_get_stack(profile, top)->parent.n, 0);
}

static void a_module_is_where_it_was_mapped_first(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct recording_writer *writer = by_hand_create("mapped.fathom");

	(void)state;
	by_hand_add_thread(writer);
	uint32_t module = by_hand_add_module(writer, MODULE_KIND_ELF, "/bin/prog");
	uint32_t again = 0;

	recording_writer_add_mapping(
		writer,
		&(struct recording_mapping){ .process = 1, .module = module, .start = 0x70000 },
		&again);
	by_hand_add_samples(writer, by_hand_add_stack(writer, 0, module, 0x100), 1, 1000);
	by_hand_name_frame(writer, 1, 0, "main", 12);
	recording_writer_set(writer, KEY_SYMBOLIZED, "1");
	by_hand_close(writer);

	CLEANUP(profile_freep) struct profile *profile = load("mapped.fathom", notes);
	const struct module *loaded = profile_get_module(profile, (struct module_id){ 1 });

	assert_string_equal(loaded->path, "/bin/prog");
	assert_int_equal(loaded->start, 0x10000);
	assert_int_equal(loaded->end, 0x20000);
	assert_int_equal(loaded->file_offset, 0x1000);
}

/* JIT code with a perf map in the recording, below an address in a module of that path. */
static void write_nameless(struct recording_writer *writer, enum module_kind kind,
			   const char *path)
{
	static const char map[] = "7f0000 100 jitted_loop\n";

	by_hand_add_thread(writer);
	uint32_t jit = by_hand_add_module(writer, MODULE_KIND_JIT, NULL);
	uint32_t file = by_hand_add_module(writer, kind, path);
	uint32_t outer = by_hand_add_stack(writer, 0, file, 0x1234);

	recording_writer_add_file(writer, 1, "/tmp/perf-77.map", map, sizeof map - 1);
	by_hand_add_samples(writer, by_hand_add_stack(writer, outer, jit, 0x7f0010), 2, 1000);
}

static void assert_names(const struct profile *profile, const char *outer_name)
{
	struct stack_id inner = profile_get_weight(profile, 0)->stack;
	struct stack_id outer = profile_get_stack(profile, inner)->parent;

	assert_string_equal(function_name(profile, inner), "jitted_loop");
	assert_string_equal(function_name(profile, outer), outer_name);
}

/* Leaves a recording as a recorder that was killed does, after its last commit. */
static void leave_killed(const char *name)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct recording_writer *writer = by_hand_create(name);

		write_nameless(writer, MODULE_KIND_UNKNOWN, NULL);
		sleep(1);
		recording_writer_tick(writer);
		_exit(recording_writer_failure(writer) != NULL);
	}
	int status = 0;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void a_killed_recording_gets_its_names_at_the_first_report_and_keeps_them(void **state)
{
	CLEANUP(notes_freep) struct notes *first = notes_new();
	CLEANUP(notes_freep) struct notes *second = notes_new();

	(void)state;
	leave_killed("killed.fathom");
	assert_false(is_symbolized("killed.fathom"));

	CLEANUP(profile_freep) struct profile *profile = load("killed.fathom", first);

	assert_names(profile, "[unknown]+0x1234");
	assert_true(profile_get_info(profile)->is_unfinished);
	assert_true(has_note(profile, "no proper end"));
	assert_true(is_symbolized("killed.fathom"));

	CLEANUP(profile_freep) struct profile *again = load("killed.fathom", second);

	assert_names(again, "[unknown]+0x1234");
	assert_true(profile_get_info(again)->is_unfinished);
	assert_int_equal(notes_count(second), 0);
}

static void write_with_missing_file(const char *name)
{
	struct recording_writer *writer = by_hand_create(name);

	write_nameless(writer, MODULE_KIND_ELF, "/nowhere/gone");
	by_hand_close(writer);
}

static void what_the_recorder_did_not_find_stays_with_the_recording(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	CLEANUP(notes_freep) struct notes *second = notes_new();
	const struct load_options options = { .was_just_recorded = true };

	(void)state;
	write_with_missing_file("noted.fathom");
	CLEANUP(profile_freep)
	struct profile *profile = load_as("noted.fathom", &options, notes);

	assert_names(profile, "gone+0x1234");
	assert_true(has_note(profile, "/nowhere/gone"));
	assert_true(is_symbolized("noted.fathom"));
	CLEANUP(profile_freep) struct profile *again = load("noted.fathom", second);

	assert_true(has_note(again, "/nowhere/gone"));
	assert_int_equal(profile_get_info(profile)->note_count,
			 profile_get_info(again)->note_count);
}

static void what_a_later_report_did_not_find_may_be_found_elsewhere(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();

	(void)state;
	write_with_missing_file("elsewhere.fathom");
	CLEANUP(profile_freep) struct profile *profile = load("elsewhere.fathom", notes);

	assert_names(profile, "gone+0x1234");
	assert_true(has_note(profile, "/nowhere/gone"));
	assert_false(is_symbolized("elsewhere.fathom"));
}

static void a_recording_that_is_being_written_is_named_in_memory_only(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	int ready[2], done[2];
	char byte = 0;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct recording_writer *writer = by_hand_create("live.fathom");

		write_nameless(writer, MODULE_KIND_UNKNOWN, NULL);
		sleep(1);
		recording_writer_tick(writer);
		close(done[1]);
		if (write(ready[1], "x", 1) != 1 || read(done[0], &byte, 1) != 0)
			_exit(1);
		_exit(recording_writer_close(writer, NULL) < 0);
	}
	close(done[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	CLEANUP(profile_freep) struct profile *profile = load("live.fathom", notes);

	assert_names(profile, "[unknown]+0x1234");
	assert_true(has_note(profile, "still being written"));
	assert_false(is_symbolized("live.fathom"));

	struct error err;

	assert_int_equal(load_symbolize(by_hand_path("live.fathom"), NULL, notes, &err),
			 -EBUSY);
	assert_non_null(strstr(err.text, "still being written"));
	close(done[1]);
	int status = 0;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

struct seen {
	size_t calls, done, total;
};

static void see_progress(void *context, size_t done, size_t total)
{
	struct seen *seen = context;

	seen->calls++;
	seen->done = done;
	seen->total = total;
}

static void looking_names_up_reports_how_far_it_is_and_is_done_once(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct recording_writer *writer = by_hand_create("progress.fathom");
	struct seen seen = { 0 };
	struct load_options options = { .progress = see_progress, .context = &seen };
	struct error err;

	(void)state;
	write_nameless(writer, MODULE_KIND_UNKNOWN, NULL);
	by_hand_close(writer);
	assert_int_equal(load_symbolize(by_hand_path("progress.fathom"), &options, notes, &err),
			 0);
	assert_int_equal(seen.total, 2);
	assert_int_equal(seen.done, 2);
	assert_true(is_symbolized("progress.fathom"));

	size_t calls = seen.calls;

	assert_int_equal(load_symbolize(by_hand_path("progress.fathom"), &options, notes, &err),
			 0);
	assert_int_equal(seen.calls, calls);
}

static void a_function_with_lines(void)
{
}

/* Where it stands in this program's file. */
static uint64_t file_offset_of_function(void)
{
	const uint64_t address = (uintptr_t)a_function_with_lines;
	struct maps *maps;

	assert_int_equal(maps_read(getpid(), &maps, NULL), 0);
	const struct mapping *mapping = maps_find(maps, address);
	const uint64_t offset = address - mapping->start + mapping->file_offset;

	maps_free(maps);
	return offset;
}

/* Both frames have names without lines; those of `unread` are still to be read. */
static void write_unread(const char *name, const char *unread)
{
	struct recording_writer *writer = by_hand_create(name);

	by_hand_add_thread(writer);
	uint32_t gone = by_hand_add_module(writer, MODULE_KIND_ELF, "/nowhere/gone");
	uint32_t here = by_hand_add_module(writer, MODULE_KIND_ELF, "/proc/self/exe");
	uint32_t outer = by_hand_add_stack(writer, 0, gone, 0x1234);

	by_hand_add_samples(writer,
			    by_hand_add_stack(writer, outer, here, file_offset_of_function()),
			    2, 1000);
	by_hand_name_frame(writer, 1, 0, "kept", 0);
	by_hand_name_frame(writer, 2, 0, "plain", 0);
	recording_writer_set(writer, KEY_SYMBOLIZED, "names");
	recording_writer_set(writer, KEY_UNREAD_LINES, unread);
	by_hand_close(writer);
}

static void lines_that_were_left_are_read_for_the_first_report_and_kept(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();

	(void)state;
	write_unread("unread.fathom", "2");
	for (int i = 0; i < 2; i++) {
		CLEANUP(profile_freep)
		struct profile *profile = load("unread.fathom", notes);
		struct stack_id inner = profile_get_weight(profile, 0)->stack;

		assert_string_equal(function_name(profile, inner), "a_function_with_lines");
		assert_int_not_equal(frame_of(profile, inner)->line, 0);
		assert_string_equal(
			function_name(profile, profile_get_stack(profile, inner)->parent),
			"kept");
		assert_true(is_symbolized("unread.fathom"));
	}
	assert_int_equal(notes_count(notes), 0);
}

static void names_stay_where_the_lines_cannot_be_read(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();

	(void)state;
	write_unread("moved.fathom", "1");
	CLEANUP(profile_freep) struct profile *profile = load("moved.fathom", notes);
	struct stack_id inner = profile_get_weight(profile, 0)->stack;

	assert_string_equal(function_name(profile, inner), "plain");
	assert_string_equal(function_name(profile, profile_get_stack(profile, inner)->parent),
			    "kept");
	assert_false(is_symbolized("moved.fathom"));
}

static void a_recording_that_is_not_there_is_an_error(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct profile *profile = NULL;
	struct error err;

	(void)state;
	assert_int_equal(load_recording(by_hand_path("missing.fathom"), NULL, notes, &profile,
					NULL, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "missing.fathom"));
	assert_null(profile);
}

/* The names that reading a recording found missing; NULL: none are. */
static struct late_names *missing_of(const char *path)
{
	CLEANUP(profile_freep) struct profile *profile = NULL;
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct late_names *late = NULL;
	struct error err;

	assert_int_equal(load_recording(path, NULL, notes, &profile, &late, &err), 0);
	return late;
}

static void reading_alone_stores_no_names(void **state)
{
	CLEANUP(late_names_freep) struct late_names *first = NULL, *second = NULL;
	const char *path = by_hand_path("late.fathom");
	struct error err;

	(void)state;
	leave_killed("late.fathom");
	first = missing_of(path);
	second = missing_of(path);
	assert_non_null(first);
	assert_non_null(second);
	assert_int_equal(late_names_store(first, path, &err), 0);
	assert_null(missing_of(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(late_names_store(second, path, &err), -ESTALE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_inlined_call_is_a_frame_of_its_own),
		cmocka_unit_test(a_module_is_where_it_was_mapped_first),
		cmocka_unit_test(
			a_killed_recording_gets_its_names_at_the_first_report_and_keeps_them),
		cmocka_unit_test(what_the_recorder_did_not_find_stays_with_the_recording),
		cmocka_unit_test(what_a_later_report_did_not_find_may_be_found_elsewhere),
		cmocka_unit_test(a_recording_that_is_being_written_is_named_in_memory_only),
		cmocka_unit_test(looking_names_up_reports_how_far_it_is_and_is_done_once),
		cmocka_unit_test(lines_that_were_left_are_read_for_the_first_report_and_kept),
		cmocka_unit_test(names_stay_where_the_lines_cannot_be_read),
		cmocka_unit_test(a_recording_that_is_not_there_is_an_error),
		cmocka_unit_test(reading_alone_stores_no_names),
	};

	return cmocka_run_group_tests(tests, by_hand_make_folder, by_hand_remove_folder);
}
