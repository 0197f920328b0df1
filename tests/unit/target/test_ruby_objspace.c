/* Its argument is the folder with the libraries that are built of fake_objspace.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "target/elf_file.h"
#include "target/ruby_objspace.h"

static const char *folder;

static const struct {
	const char *library;
	u16 vm_objspace, objspace_count;
} cases[] = {
	{ "loads", 1304, 1392 },
	{ "otherwise", 1, 2 },
};

static void offsets_are_those_of_the_code_where_it_has_the_known_shape(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CLEANUP(freep) char *path = NULL;
		CLEANUP(elf_file_close) struct elf_file elf;
		struct ruby_offsets offsets = { .vm_objspace = 1, .objspace_count = 2 };
		struct error err = { "" };

		assert_true(asprintf(&path, "%s/libfake_objspace_%s.so", folder,
				     cases[i].library) > 0);
		assert_int_equal(elf_file_open(path, &elf, &err), 0);
		if (elf.machine != EM_X86_64)
			skip();
		ruby_objspace_find(&elf, &offsets);
		assert_int_equal(offsets.vm_objspace, cases[i].vm_objspace);
		assert_int_equal(offsets.objspace_count, cases[i].objspace_count);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_those_of_the_code_where_it_has_the_known_shape),
	};

	folder = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
