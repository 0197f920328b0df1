/* Its argument is the folder with the libraries that are built of fake_python.c and fake_ruby.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "remote/interpreter_files.h"
#include "target/python.h"
#include "target/ruby.h"

static const char *folder;

static char *path_of(const char *name)
{
	return xasprintf("%s/lib%s.so", folder, name);
}

/* Copies a file over another one, which keeps its inode. */
static void copy(const char *from, const char *to)
{
	CLEANUP(freep) char *command = xasprintf("cat '%s' > '%s'", from, to);

	assert_int_equal(system(command), 0);
}

static void a_file_is_read_once(void **state)
{
	struct interpreter_files *files = interpreter_files_new();
	CLEANUP(freep) char *python = path_of("fake_python_loopless");
	CLEANUP(freep) char *ruby = path_of("fake_ruby_whole");
	const struct python_image *image = interpreter_files_python(files, python);

	(void)state;
	assert_non_null(image);
	assert_string_equal(python_image_version(image), "3.12.0");
	assert_ptr_equal(interpreter_files_python(files, python), image);
	assert_null(interpreter_files_ruby(files, python));
	assert_non_null(interpreter_files_ruby(files, ruby));
	assert_null(interpreter_files_python(files, ruby));
	assert_null(interpreter_files_python(files, "/nonexistent"));
	interpreter_files_free(files);
}

static void a_file_that_has_changed_is_another(void **state)
{
	char path[] = "/tmp/fathom-files-XXXXXX";
	struct interpreter_files *files = interpreter_files_new();
	CLEANUP(freep) char *first = path_of("fake_python_loopless");
	CLEANUP(freep) char *second = path_of("fake_python_beta");
	const int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_null(interpreter_files_python(files, path));
	copy(first, path);
	assert_string_equal(python_image_version(interpreter_files_python(files, path)),
			    "3.12.0");
	usleep(20000);
	copy(second, path);
	assert_string_equal(python_image_version(interpreter_files_python(files, path)),
			    "3.15.0b1");
	unlink(path);
	interpreter_files_free(files);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_once),
		cmocka_unit_test(a_file_that_has_changed_is_another),
	};

	if (argc < 2)
		return 1;
	folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
