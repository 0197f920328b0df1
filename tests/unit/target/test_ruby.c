/* Its argument is the folder with the libraries that are built of fake_ruby.c. */
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
#include "target/ruby.h"
#include "target/ruby_version.h"

static const char *folder;

static void image_freep(struct ruby_image **image)
{
	ruby_image_free(*image);
}

static struct ruby_image *read_fake(const char *name)
{
	CLEANUP(freep) char *path = xasprintf("%s/libfake_ruby_%s.so", folder, name);
	struct ruby_image *image = NULL;
	struct error err = { "" };

	if (ruby_image_read(path, &image, &err) < 0)
		fail_msg("%s: %s", path, err.text);
	return image;
}

static const struct {
	const char *text;
	uint32_t version;
} versions[] = {
	{ "3.1.2", 0x030102 },
	{ "2.7.18", 0x020712 },
	{ "4.0.0", 0x040000 },
	{ "", 0 },
	{ "3", 0 },
	{ "3.1", 0 },
	{ "3.1.", 0 },
	{ "3.1.2x", 0 },
	{ "3.999.1", 0 },
	{ "3.1.2.4", 0 },
	{ "ruby", 0 },
	{ "-3.1.2", 0 },
};

static void versions_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
		assert_int_equal(ruby_version_parse(versions[i].text), versions[i].version);
}

static void a_file_that_is_gone_is_a_sentence(void **state)
{
	(void)state;
	struct ruby_image *image = NULL;
	struct error err = { "" };

	assert_int_equal(ruby_image_read("/nonexistent/ruby", &image, &err), -ESTALE);
	assert_string_equal(err.text, "/nonexistent/ruby: it is gone");
	assert_null(image);
}

static void a_file_without_an_interpreter_is_none(void **state)
{
	(void)state;
	static const char *const paths[] = { "/proc/self/exe", "/etc/passwd", "/" };

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct ruby_image *image = NULL;
		struct error err = { "untouched" };

		assert_int_equal(ruby_image_read(paths[i], &image, &err), -ENOENT);
		assert_string_equal(err.text, "untouched");
	}
}

static const struct {
	const char *library, *version, *why_not;
} refusals[] = {
	{ "other", "?", "it is another implementation than CRuby" },
	{ "nameless", "?", "its version cannot be found" },
	{ "torn", "?", "its version cannot be found" },
	{ "contradiction", "3.2.0", "it has two different versions" },
	{ "preview", "3.4.0preview1",
	  "CRuby 3.4.0preview1 is a pre-release, whose layout may change" },
	{ "dev", "3.4.0", "CRuby 3.4.0 is a pre-release, whose layout may change" },
	{ "2_6", "2.6.10", "CRuby 2.6.10 is not known yet" },
	{ "5_0", "5.0.0", "CRuby 5.0.0 is not known yet" },
	{ "4_0_99", "4.0.99", "CRuby 4.0.99 is not known yet" },
	{ "classless", "4.0.0", "it has no symbol rb_cInteger" },
	{ "jobless", "4.0.0", "it has no postponed jobs" },
	{ "hookless", "4.0.0", "it lacks functions that extensions may call" },
	{ "vmless", "2.7.4", "it has no symbol ruby_current_vm_ptr" },
	{ "contextless", "4.0.0", "where it keeps its execution context is not known" },
	{ "threads", "4.0.0", "its threads are not laid out as those of CRuby 4.0 are" },
	{ "coreless", "4.0.0", "the code of its instructions cannot be found" },
	{ "unnamed", "4.0.0", "its instructions do not have 206 names" },
	{ "more", "3.1.2", "it has 206 instructions, not the 202 of CRuby 3.1" },
	{ "moved", "3.1.2", "its instruction e5 is not where CRuby 3.1 has it" },
	{ "loopless", "4.0.0", "what calls its interpreter's loop is not found" },
	{ "loops", "4.0.0", "too much code calls its interpreter's loop" },
	{ "id2strless", "4.0.0", "it has no symbol rb_id2str" },
	{ "symbolless", "4.0.0", "its table of symbols cannot be found" },
	{ "symbols", "4.0.0", "it seems to have two tables of symbols" },
};

static void what_cannot_be_walked_says_why(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		CLEANUP(image_freep) struct ruby_image *image = read_fake(refusals[i].library);
		const struct ruby_layout nothing = { .version = 0 };
		struct ruby_layout layout;

		assert_string_equal(ruby_image_version(image), refusals[i].version);
		assert_non_null(ruby_image_why_not(image));
		assert_string_equal(ruby_image_why_not(image), refusals[i].why_not);
		ruby_image_layout(image, 0x1000, &layout);
		layout.version = 0;
		assert_memory_equal(&layout, &nothing, sizeof layout);
	}
}

/* A thread-local variable is read out of the code of x86-64 only. */
static void need_x86_64(void)
{
#ifndef __x86_64__
	skip();
#endif
}

static int has_operator(const struct ruby_layout *layout, enum ruby_operator operator)
{
	int count = 0;

	for (u32 i = 0; i < layout->instruction_count; i++)
		count += layout->instructions[i] == operator;
	return count;
}

/* It is stripped of all names that are not exported, and moved. */
static void an_interpreter_is_found_without_names(void **state)
{
	(void)state;
	CLEANUP(image_freep) struct ruby_image *image = read_fake("whole");
	struct ruby_layout here, there;

	need_x86_64();
	assert_string_equal(ruby_image_version(image), "4.0.0");
	assert_null(ruby_image_why_not(image));
	ruby_image_layout(image, 0, &here);
	ruby_image_layout(image, 0x7f0000000000, &there);
	assert_int_equal(here.is_known, 1);
	assert_int_equal(here.version, 0x040000);
	assert_int_equal(here.instruction_count, 206);
	for (u32 i = 1; i < here.instruction_count; i++)
		assert_true(here.labels[i] > here.labels[i - 1]);
	assert_true(here.labels[205] < here.core[0].end - here.core[0].start);
	assert_int_equal(has_operator(&here, RUBY_OPERATOR_PLUS), 2);
	assert_int_equal(has_operator(&here, RUBY_OPERATOR_ASET), 2);
	assert_int_equal(has_operator(&here, RUBY_OPERATOR_MINUS), 0);
	assert_true(here.loop[0].end > here.loop[0].start);
	assert_int_equal(here.loop[1].end, 0);
	assert_int_equal(here.context.means, TLS_BY_MODULE);
	assert_int_equal(there.context.module, here.context.module + 0x7f0000000000);
	assert_int_equal(there.loop[0].start, here.loop[0].start + 0x7f0000000000);
	assert_int_equal(there.core[0].end, here.core[0].end + 0x7f0000000000);
	assert_int_equal(there.symbols, here.symbols + 0x7f0000000000);
	assert_int_equal(there.functions.id2name, here.functions.id2name + 0x7f0000000000);
	assert_int_equal(here.functions.postponed_job_register_one, 0);
	assert_int_equal(there.functions.postponed_job_register_one, 0);
	assert_memory_equal(there.labels, here.labels, sizeof here.labels);
}

static void other_tools_make_interpreters_that_are_found_too(void **state)
{
	(void)state;
	static const char *const names[] = { "packed", "clang" };

	need_x86_64();
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		CLEANUP(image_freep) struct ruby_image *image = read_fake(names[i]);
		struct ruby_layout layout;

		assert_null(ruby_image_why_not(image));
		ruby_image_layout(image, 0, &layout);
		assert_int_equal(layout.instruction_count, 206);
		assert_int_equal(layout.context.means, TLS_BY_MODULE);
	}
}

/* A program at a fixed address has its table where nothing is written, and no relocations. */
static void a_program_that_is_one_is_found_too(void **state)
{
	(void)state;
	CLEANUP(freep) char *path = xasprintf("%s/fake_ruby_program", folder);
	CLEANUP(image_freep) struct ruby_image *image = NULL;
	struct error err = { "" };
	struct ruby_layout layout;

	need_x86_64();
	if (ruby_image_read(path, &image, &err) < 0)
		fail_msg("%s: %s", path, err.text);
	assert_null(ruby_image_why_not(image));
	ruby_image_layout(image, 0, &layout);
	assert_int_equal(layout.instruction_count, 206);
	assert_int_equal(layout.context.means, TLS_STATIC);
}

static void classes_that_were_copied_into_the_program_are_those(void **state)
{
	(void)state;
	CLEANUP(freep) char *copies = xasprintf("%s/libfake_ruby_whole.so", folder);
	CLEANUP(freep) char *none = xasprintf("%s/libfake_ruby_coreless.so", folder);
	struct ruby_layout before = { .is_known = 1, .classes = { 1, 2, 3 } }, layout = before;

	ruby_layout_use_copies(&layout, "/nonexistent", 0);
	assert_memory_equal(&layout, &before, sizeof before);
	ruby_layout_use_copies(&layout, copies, 0x10000);
	assert_true(layout.classes[RUBY_CLASS_INTEGER] > 0x10000);
	before.is_known = 0;
	layout = before;
	ruby_layout_use_copies(&layout, none, 0x10000);
	assert_memory_equal(&layout, &before, sizeof before);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_read),
		cmocka_unit_test(a_file_that_is_gone_is_a_sentence),
		cmocka_unit_test(a_file_without_an_interpreter_is_none),
		cmocka_unit_test(what_cannot_be_walked_says_why),
		cmocka_unit_test(an_interpreter_is_found_without_names),
		cmocka_unit_test(other_tools_make_interpreters_that_are_found_too),
		cmocka_unit_test(a_program_that_is_one_is_found_too),
		cmocka_unit_test(classes_that_were_copied_into_the_program_are_those),
	};

	folder = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
