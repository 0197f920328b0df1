/* Its argument is the folder with the libraries that are built of fake_python.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "target/python.h"
#include "target/python_version.h"

static const char *folder;

static void image_freep(struct python_image **image)
{
	python_image_free(*image);
}

static const struct {
	const char *text;
	uint32_t version;
	const char *again; /* NULL: the same text */
} versions[] = {
	{ "3.11.2", 0x030b02f0, NULL },
	{ "2.7.18", 0x020712f0, NULL },
	{ "3.15.0b1", 0x030f00b1, NULL },
	{ "3.14.0a7", 0x030e00a7, NULL },
	{ "3.13.0rc2", 0x030d00c2, NULL },
	{ "2.7.18rc1", 0x020712c1, NULL },
	{ "2.7c1", 0x020700c1, "2.7.0rc1" },
	{ "2.7", 0x020700f0, "2.7.0" },
	{ "3.8.18+", 0x030812f0, "3.8.18" },
	{ "", 0, "" },
	{ "3", 0, "" },
	{ "3.", 0, "" },
	{ "3.11.2x", 0, "" },
	{ "3.11.", 0, "" },
	{ "3.999.1", 0, "" },
	{ "3.11.2rc", 0, "" },
	{ "3.11.2rc16", 0, "" },
	{ "libpython3.11.so", 0, "" },
};

static void versions_are_read_and_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
		char text[PYTHON_VERSION_SIZE];
		uint32_t version = python_version_parse(versions[i].text);

		assert_int_equal(version, versions[i].version);
		if (version == 0)
			continue;
		python_version_format(version, text);
		assert_string_equal(text,
				    versions[i].again ? versions[i].again : versions[i].text);
	}
}

static void a_file_that_is_gone_is_a_sentence(void **state)
{
	(void)state;
	struct python_image *image = NULL;
	struct error err = { "" };

	assert_int_equal(python_image_read("/nonexistent/python", &image, &err), -ESTALE);
	assert_string_equal(err.text, "/nonexistent/python: it is gone");
	assert_null(image);
}

static void a_file_without_an_interpreter_is_none(void **state)
{
	(void)state;
	static const char *const paths[] = { "/proc/self/exe", "/dev/null", "/etc/passwd",
					     "/" };

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct python_image *image = NULL;
		struct error err = { "untouched" };

		assert_int_equal(python_image_read(paths[i], &image, &err), -ENOENT);
		assert_string_equal(err.text, "untouched");
	}
}

static const struct {
	const char *library, *version, *why_not;
} refusals[] = {
	{ "pypy", "PyPy", "PyPy is another interpreter than CPython" },
	{ "nameless", "?", "its version cannot be found" },
	{ "3_5", "3.5.2", "CPython 3.5.2 is not known yet" },
	{ "3_16", "3.16.0", "CPython 3.16.0 is not known yet" },
	{ "beta", "3.15.0b1", "CPython 3.15.0b1 is a pre-release, whose layout may change" },
	{ "renamed", "3.8.18", "its name and its code have different versions" },
	{ "mixed", "3.13.1", "its debug offsets are those of another version" },
	{ "empty", "3.12.0", "it has no symbol PyInterpreterState_Head" },
	{ "loopless", "3.12.0", "it has no symbol _PyEval_EvalFrameDefault" },
	{ "small", "3.12.0", "_PyEval_EvalFrameDefault is not the interpreter's loop" },
	{ "other", "3.12.0", "its code objects are not laid out as those of CPython 3.12 are" },
	{ "stateless", "3.15.0", "where it keeps a thread's state is not known" },
	{ "no_offsets", "3.13.1", "it has no symbol _PyRuntime" },
	{ "bad_offsets", "3.13.1", "its debug offset of state_next makes no sense" },
};

static void what_cannot_be_walked_says_why(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		CLEANUP(freep)
		char *path = xasprintf("%s/libfake_python_%s.so", folder, refusals[i].library);
		CLEANUP(image_freep) struct python_image *image = NULL;
		struct python_layout layout;
		struct error err = { "" };

		if (python_image_read(path, &image, &err) < 0)
			fail_msg("%s: %s", path, err.text);
		assert_string_equal(python_image_version(image), refusals[i].version);
		assert_non_null(python_image_why_not(image));
		assert_string_equal(python_image_why_not(image), refusals[i].why_not);
		python_image_layout(image, 0x1000, &layout);
		assert_int_equal(layout.chain, 0);
		assert_int_equal(layout.loop[0].end, 0);
		assert_int_equal(layout.code_type, 0);
	}
}

static void objects_that_were_copied_into_the_program_are_those(void **state)
{
	(void)state;
	CLEANUP(freep) char *copies = xasprintf("%s/libfake_python_small.so", folder);
	CLEANUP(freep) char *none = xasprintf("%s/libfake_python_empty.so", folder);
	const struct python_layout before = { .chain = PYTHON_CHAIN_SHIM, .code_type = 1 };
	struct python_layout layout = before, elsewhere = before;

	python_layout_use_copies(&layout, none, 0);
	assert_memory_equal(&layout, &before, sizeof before);
	python_layout_use_copies(&layout, "/nonexistent", 0);
	assert_memory_equal(&layout, &before, sizeof before);
	python_layout_use_copies(&layout, copies, 0);
	assert_true(layout.code_type > 1 && layout.none > 1);
	python_layout_use_copies(&elsewhere, copies, 0x10000);
	assert_int_equal(elsewhere.code_type, layout.code_type + 0x10000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_read_and_written),
		cmocka_unit_test(a_file_that_is_gone_is_a_sentence),
		cmocka_unit_test(a_file_without_an_interpreter_is_none),
		cmocka_unit_test(what_cannot_be_walked_says_why),
		cmocka_unit_test(objects_that_were_copied_into_the_program_are_those),
	};

	folder = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
