#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "target/maps.h"

static struct maps *parse(const char *text)
{
	return maps_parse(text, strlen(text));
}

static void a_line_has_all_its_fields(void **state)
{
	(void)state;
	CLEANUP(maps_freep)
	struct maps *maps = parse(
		"7f0010000000-7f0010002000 r-xp 0000a000 fd:1f 4294967297   /usr/lib/a b.so\n");
	assert_int_equal(maps_count(maps), 1);
	const struct mapping *m = maps_at(maps, 0);
	assert_int_equal(m->start, 0x7f0010000000);
	assert_int_equal(m->end, 0x7f0010002000);
	assert_int_equal(m->file_offset, 0xa000);
	assert_true(m->is_readable && m->is_executable && !m->is_writable && !m->is_shared);
	assert_int_equal(m->device_major, 0xfd);
	assert_int_equal(m->device_minor, 0x1f);
	assert_int_equal(m->inode, 4294967297);
	assert_string_equal(m->path, "/usr/lib/a b.so");
	assert_false(m->is_deleted);
}

static void paths_are_what_the_kernel_meant(void **state)
{
	static const struct {
		const char *name;
		const char *line;
		const char *path;
		bool is_deleted;
	} cases[] = {
		{ "anonymous", "1000-2000 rw-p 0 00:00 0 \n", "", false },
		{ "anonymous, no blank at the end", "1000-2000 rw-p 0 00:00 0\n", "", false },
		{ "special", "1000-2000 rw-p 0 00:00 0      [stack]\n", "[stack]", false },
		{ "deleted", "1000-2000 r-xp 0 08:01 7 /a/b (deleted)\n", "/a/b", true },
		{ "a memfd", "1000-2000 r-xs 0 00:01 7 /memfd:jit (deleted)\n", "/memfd:jit",
		  true },
		{ "a newline", "1000-2000 r-xp 0 08:01 7 /a\\012b\n", "/a\nb", false },
		{ "a backslash", "1000-2000 r-xp 0 08:01 7 /a\\01\n", "/a\\01", false },
		{ "blanks at its end", "1000-2000 r-xp 0 08:01 7 /a  \n", "/a  ", false },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CLEANUP(maps_freep) struct maps *maps = parse(cases[i].line);
		print_message("%s\n", cases[i].name);
		assert_int_equal(maps_count(maps), 1);
		assert_string_equal(maps_at(maps, 0)->path, cases[i].path);
		assert_int_equal(maps_at(maps, 0)->is_deleted, cases[i].is_deleted);
	}
}

static void lines_that_are_not_the_kernels_are_left_out_and_counted(void **state)
{
	static const char *const lines[] = {
		"\n",
		"1000-2000 r-xp 0 08:01 7 /torn",
		"hello\n",
		"2000-1000 r-xp 0 08:01 7 /end before start\n",
		"1000-1000 r-xp 0 08:01 7 /empty\n",
		"1000-2000\n",
		"1000-2000 r-x\n",
		"1000-2000 r-xp  08:01 7 /no offset\n",
		"1000-2000 r-xp 0 0801 7 /no colon\n",
		"10000000000000000-20000000000000000 r-xp 0 08:01 7 /65 bits\n",
	};
	(void)state;

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		CLEANUP(maps_freep) struct maps *maps = parse(lines[i]);
		assert_int_equal(maps_count(maps), 0);
		assert_int_equal(maps_bad_lines(maps), 1);
	}
}

static void mappings_never_overlap(void **state)
{
	(void)state;
	CLEANUP(maps_freep)
	struct maps *maps = parse("1000-3000 r-xp 0 08:01 7 /a\n"
				  "2000-4000 r-xp 0 08:01 7 /b\n"
				  "3000-4000 r-xp 0 08:01 7 /c\n");
	assert_int_equal(maps_count(maps), 2);
	assert_int_equal(maps_bad_lines(maps), 1);
	assert_string_equal(maps_find(maps, 0x2fff)->path, "/a");
	assert_string_equal(maps_find(maps, 0x3000)->path, "/c");
}

static void an_address_between_mappings_has_none(void **state)
{
	(void)state;
	CLEANUP(maps_freep)
	struct maps *maps = parse("1000-2000 r-xp 0 08:01 7 /a\n"
				  "3000-4000 r-xp 0 08:01 7 /b\n");
	assert_null(maps_find(maps, 0xfff));
	assert_non_null(maps_find(maps, 0x1000));
	assert_non_null(maps_find(maps, 0x1fff));
	assert_null(maps_find(maps, 0x2000));
	assert_null(maps_find(maps, 0x4000));
	assert_null(maps_find(maps, UINT64_MAX));
}

static void our_own_mappings_are_read(void **state)
{
	(void)state;
	struct error err;
	struct maps *maps;
	void *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(maps_read(getpid(), &maps, &err), 0);
	assert_int_equal(maps_bad_lines(maps), 0);
	const struct mapping *code = maps_find(maps, (uintptr_t)our_own_mappings_are_read);
	assert_non_null(code);
	assert_true(code->is_executable);
	assert_non_null(strstr(code->path, "test_maps"));
	const struct mapping *data = maps_find(maps, (uintptr_t)page);
	assert_non_null(data);
	assert_true(data->is_writable && !data->is_executable);
	maps_free(maps);
	munmap(page, 4096);
}

static void a_process_that_is_not_there_is_named(void **state)
{
	(void)state;
	struct error err;
	struct maps *maps = NULL;

	/* Above the largest pid there can be (PID_MAX_LIMIT, 4 Mi). */
	assert_int_equal(maps_read(0x7fffffff, &maps, &err), -ENOENT);
	assert_null(maps);
	assert_non_null(strstr(err.text, "2147483647"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_all_its_fields),
		cmocka_unit_test(paths_are_what_the_kernel_meant),
		cmocka_unit_test(lines_that_are_not_the_kernels_are_left_out_and_counted),
		cmocka_unit_test(mappings_never_overlap),
		cmocka_unit_test(an_address_between_mappings_has_none),
		cmocka_unit_test(our_own_mappings_are_read),
		cmocka_unit_test(a_process_that_is_not_there_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
