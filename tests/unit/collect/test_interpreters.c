/*
 * What agents and recordings know of an interpreter: of the CPython that is installed, and
 * of a library that looks like CRuby (tests/unit/target/fake_ruby.c), which is the argument.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collect/processes/image.h"
#include "collect/processes/interpreters.h"
#include "collect/processes/mappings.h"
#include "record/reader.h"
#include "record/writer.h"
#include "target/load_bias.h"
#include "target/python.h"
#include "target/ruby.h"

#define PYTHON "/usr/bin/python3"
#define BIAS   0x550000000000ULL

struct found {
	uint32_t rows, whys, notes, languages;
	char why_not[128], note[256];
};

static struct interpreters interpreters;
static const char *ruby_path;

static int setup(void **state)
{
	const int rc = scene_setup(state);

	interpreters_init(&interpreters, ((struct scene *)*state)->writer);
	return rc;
}

static int teardown(void **state)
{
	interpreters_done(&interpreters);
	return scene_teardown(state);
}

static void need_python(void)
{
	if (access(PYTHON, R_OK) < 0) {
		print_message("%s is not there\n", PYTHON);
		skip();
	}
}

/* The file's first executable segment, where a process has it. */
static struct module_place place_of(struct scene *scene, const char *path)
{
	struct module_place place = { .has_file = true, .path = path, .to_ns = UINT64_MAX };
	struct load_bias bias;

	load_bias_read(path, &bias);
	assert_in_range(bias.count, 1, LOAD_BIAS_SEGMENTS);
	place.file_offset = bias.segments[0].offset & ~0xfffULL;
	place.start = BIAS + (bias.segments[0].address & ~0xfffULL);
	place.end = place.start + 0x1000;
	recording_writer_add_module(
		scene->writer,
		&(struct recording_module){ .kind = MODULE_KIND_ELF, .path = path },
		&place.module);
	return place;
}

static int take_interpreter(void *context, const struct recording_interpreter *row)
{
	struct found *found = context;

	assert_int_equal(row->process, 1);
	assert_int_equal(row->version[1], '.');
	found->rows++;
	found->languages |= 1U << row->language;
	if (row->why_not != NULL) {
		found->whys++;
		strncpy(found->why_not, row->why_not, sizeof found->why_not - 1);
	}
	return 0;
}

static int take_note(void *context, const char *text)
{
	struct found *found = context;

	found->notes++;
	strncpy(found->note, text, sizeof found->note - 1);
	return 0;
}

static struct found read_found(const struct scene *scene)
{
	struct recording_reader *reader;
	struct found found = { .rows = 0 };
	struct error err;

	must(recording_writer_commit(scene->writer), &err);
	must(recording_reader_open(scene->path, &reader, &err), &err);
	must(recording_reader_each_interpreter(reader, take_interpreter, &found, &err), &err);
	must(recording_reader_each_note(reader, take_note, &found, &err), &err);
	recording_reader_close(reader);
	return found;
}

static void a_mapped_interpreter_puts_its_layout_into_the_ring(void **state)
{
	struct scene *scene = *state;
	struct python_image *python = NULL;
	struct python_layout due;
	struct error err;

	need_python();
	const struct module_place place = place_of(scene, PYTHON);

	interpreters_see(&interpreters, scene->image, &place);
	interpreters_see(&interpreters, scene->image, &place);
	must(python_image_read(PYTHON, &python, &err), &err);
	python_image_layout(python, BIAS, &due);
	python_image_free(python);
	assert_int_equal(scene->image->ring->has_python, 1);
	assert_memory_equal(&scene->image->ring->python, &due, sizeof due);
	assert_true(due.loop[0].start > BIAS);
	assert_int_equal(scene->image->languages, 1U << RECORDING_LANGUAGE_PYTHON);
	const struct found found = read_found(scene);

	assert_int_equal(found.rows, 1);
	assert_int_equal(found.languages, 1U << RECORDING_LANGUAGE_PYTHON);
	assert_int_equal(found.whys, 0);
	assert_int_equal(found.notes, 0);
}

static void a_process_may_have_an_interpreter_of_each_kind(void **state)
{
	struct scene *scene = *state;
	struct ruby_image *ruby = NULL;
	struct ruby_layout due;
	struct error err;

	need_python();
	const struct module_place python = place_of(scene, PYTHON);
	const struct module_place place = place_of(scene, ruby_path);

	interpreters_see(&interpreters, scene->image, &python);
	interpreters_see(&interpreters, scene->image, &place);
	must(ruby_image_read(ruby_path, &ruby, &err), &err);
	ruby_image_layout(ruby, BIAS, &due);
	ruby_image_free(ruby);
	assert_int_equal(scene->image->ring->has_python, 1);
	assert_int_equal(scene->image->ring->has_ruby, 1);
	assert_memory_equal(&scene->image->ring->ruby, &due, sizeof due);
	assert_true(due.loop[0].start > BIAS);
	assert_int_equal(scene->image->languages,
			 1U << RECORDING_LANGUAGE_PYTHON | 1U << RECORDING_LANGUAGE_RUBY);
	const struct found found = read_found(scene);

	assert_int_equal(found.rows, 2);
	assert_int_equal(found.languages, scene->image->languages);
	assert_int_equal(found.notes, 0);
}

static void what_was_mapped_before_the_ring_came_is_looked_at_then(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	need_python();
	const struct module_place place = place_of(scene, PYTHON);

	scene->image->ring = NULL;
	mappings_add(scene->image->mappings, &place);
	interpreters_see(&interpreters, scene->image, &place);
	assert_int_equal(scene->image->languages, 0);
	scene->image->ring = ring;
	interpreters_look(&interpreters, scene->image);
	assert_int_equal(ring->has_python, 1);
}

/* An agent waits for its answer, so no file is opened before it. */
static void only_what_is_known_is_shown_before_the_answer(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	need_python();
	const struct module_place place = place_of(scene, PYTHON);

	mappings_add(scene->image->mappings, &place);
	interpreters_recall(&interpreters, scene->image);
	assert_int_equal(ring->has_python, 0);
	assert_int_equal(interpreters.by_module.count, 0);
	interpreters_look(&interpreters, scene->image);
	assert_int_equal(ring->has_python, 1);
	/* The next process that has the file mapped. */
	ring->has_python = 0;
	scene->image->languages = 0;
	scene->image->interpreter_count = 0;
	interpreters_recall(&interpreters, scene->image);
	assert_int_equal(ring->has_python, 1);
	assert_int_equal(read_found(scene).rows, 2);
}

static void other_files_have_none(void **state)
{
	struct scene *scene = *state;
	const struct module_place self = place_of(scene, "/proc/self/exe");
	struct module_place gone = self, text = self;

	gone.path = "/nowhere/libpython3.11.so.1.0";
	gone.module = 7;
	text.path = "/etc/passwd";
	text.module = 8;
	interpreters_see(&interpreters, scene->image, &self);
	interpreters_see(&interpreters, scene->image, &gone);
	interpreters_see(&interpreters, scene->image, &text);
	assert_int_equal(scene->image->interpreter_count, 0);
	assert_int_equal(scene->image->ring->has_python, 0);
	assert_int_equal(interpreters.by_module.count, 3);
}

static void a_mapping_that_is_no_segment_gets_no_layout(void **state)
{
	struct scene *scene = *state;

	need_python();
	struct module_place place = place_of(scene, PYTHON);

	place.file_offset = 1ULL << 40;
	interpreters_see(&interpreters, scene->image, &place);
	assert_int_equal(scene->image->ring->has_python, 0);
	const struct found found = read_found(scene);

	assert_int_equal(found.whys, 1);
	assert_string_equal(found.note,
			    PYTHON ": no Python functions in its stacks: it is mapped as no "
				   "file is");
}

static void the_second_one_in_a_process_is_named_and_not_walked(void **state)
{
	struct scene *scene = *state;

	need_python();
	struct module_place first = place_of(scene, PYTHON), second = first;

	recording_writer_add_module(
		scene->writer, &(struct recording_module){ .path = "/other" }, &second.module);
	interpreters_see(&interpreters, scene->image, &first);
	interpreters_see(&interpreters, scene->image, &second);
	const struct found found = read_found(scene);

	assert_int_equal(found.rows, 2);
	assert_int_equal(found.whys, 1);
	assert_non_null(strstr(found.why_not, "another Python"));
}

static void count_with(struct scene *scene, u64 walks, u64 refusals)
{
	scene->image->ring->python_walks = walks;
	scene->image->ring->python_refusals = refusals;
	interpreters_note(&interpreters, scene->image);
}

static void a_layout_that_never_fitted_is_reported_once(void **state)
{
	struct scene *scene = *state;

	need_python();
	const struct module_place place = place_of(scene, PYTHON);

	interpreters_see(&interpreters, scene->image, &place);
	/* Start-up and the end refuse some; one walk that fits proves the layout. */
	count_with(scene, 0, 3);
	count_with(scene, 1, 1000);
	assert_int_equal(read_found(scene).whys, 0);
	count_with(scene, 0, 1000);
	count_with(scene, 0, UINT64_MAX);
	const struct found found = read_found(scene);

	assert_int_equal(found.rows, 1);
	assert_int_equal(found.whys, 1);
	assert_int_equal(found.notes, 1);
	assert_non_null(strstr(found.note, "its thread states do not look as CPython"));
}

/* Its agent compares, too; what it says of one kind is not said of the other. */
static void a_layout_that_its_agent_found_wrong_is_reported(void **state)
{
	struct scene *scene = *state;
	struct ring_header *ring = scene->image->ring;

	need_python();
	const struct module_place python = place_of(scene, PYTHON);
	const struct module_place ruby = place_of(scene, ruby_path);

	interpreters_see(&interpreters, scene->image, &python);
	interpreters_see(&interpreters, scene->image, &ruby);
	ring->ruby_walks = 1000;
	ring->ruby_check = RING_RUBY_AGREES;
	interpreters_note(&interpreters, scene->image);
	assert_int_equal(read_found(scene).whys, 0);
	ring->ruby_check = RING_RUBY_DIFFERS;
	interpreters_note(&interpreters, scene->image);
	const struct found found = read_found(scene);

	assert_int_equal(found.rows, 2);
	assert_int_equal(found.whys, 1);
	assert_int_equal(found.notes, 1);
	assert_string_equal(found.why_not, "its stacks do not look as CRuby 4.0.0's should");
	assert_non_null(strstr(found.note, ": no Ruby functions in its stacks: its stacks"));
}

static void a_ruby_that_never_was_one_is_reported(void **state)
{
	struct scene *scene = *state;
	const struct module_place ruby = place_of(scene, ruby_path);

	interpreters_see(&interpreters, scene->image, &ruby);
	scene->image->ring->ruby_refusals = 1000;
	interpreters_note(&interpreters, scene->image);
	assert_string_equal(read_found(scene).why_not,
			    "its execution contexts do not look as CRuby 4.0.0's should");
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_mapped_interpreter_puts_its_layout_into_the_ring),
		SCENE(what_was_mapped_before_the_ring_came_is_looked_at_then),
		SCENE(only_what_is_known_is_shown_before_the_answer),
		SCENE(other_files_have_none),
		SCENE(a_mapping_that_is_no_segment_gets_no_layout),
		SCENE(the_second_one_in_a_process_is_named_and_not_walked),
		SCENE(a_process_may_have_an_interpreter_of_each_kind),
		SCENE(a_layout_that_never_fitted_is_reported_once),
		SCENE(a_layout_that_its_agent_found_wrong_is_reported),
		SCENE(a_ruby_that_never_was_one_is_reported),
	};

	if (argc != 2)
		return 2;
	ruby_path = argv[1];

	return cmocka_run_group_tests(tests, NULL, NULL);
}
