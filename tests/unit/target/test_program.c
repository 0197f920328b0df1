/*
 * argv: the folder of the programs that meson built (nothing.c): dynamic, static,
 * static-pie, and a library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "target/elf_header.h"
#include "target/program.h"

static const char *built; /* folder of the built programs */
static char folder[64];   /* of this test's files */

static char *built_path(const char *name)
{
	return xasprintf("%s/%s", built, name);
}

static char *write_file(const char *name, const void *bytes, size_t len, mode_t mode)
{
	char *path = xasprintf("%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

static char *write_script(const char *name, const char *text)
{
	return write_file(name, text, strlen(text), 0755);
}

static void the_header_tells_programs_apart(void **state)
{
	static const struct {
		const char *name;
		bool has_interpreter;
		bool is_static;
	} cases[] = {
		{ "nothing_dynamic", true, false },
		{ "nothing_static", false, true },
		{ "nothing_static_pie", false, true },
		{ "libnothing.so", false, false },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct elf_header header;
		struct error err = { "" };
		CLEANUP(freep) char *path = built_path(cases[i].name);
		print_message("%s\n", cases[i].name);
		assert_int_equal(elf_header_read(path, &header, &err), 0);
		assert_int_equal(header.has_interpreter, cases[i].has_interpreter);
		assert_int_equal(header.is_static, cases[i].is_static);
		assert_true(header.is_64bit == (sizeof(void *) == 8));
		assert_true(header.type == ET_DYN || header.type == ET_EXEC);
		if (header.has_interpreter)
			assert_non_null(strstr(header.interpreter, "/ld-linux"));
	}
}

/* Headers by hand: len bytes of a little-endian 64-bit file with count program headers. */
static void make_header(uint8_t *bytes, uint16_t count, uint64_t offset, uint16_t entry_size)
{
	Elf64_Ehdr header = { .e_type = ET_EXEC,
			      .e_machine = EM_AARCH64,
			      .e_phoff = offset,
			      .e_phentsize = entry_size,
			      .e_phnum = count };

	memcpy(header.e_ident, "\177ELF\2\1\1", 7);
	memcpy(bytes, &header, sizeof header);
}

static void damaged_headers_are_refused_with_a_sentence(void **state)
{
	uint8_t bytes[4096] = { 0 };
	struct elf_header header;
	struct error err;
	static const struct {
		const char *name;
		uint16_t count;
		uint64_t offset;
		uint16_t entry_size;
	} cases[] = {
		{ "program headers beyond the file", 1, 4096, 56 },
		{ "program headers at the end of the world", 1, UINT64_MAX - 8, 56 },
		{ "entries that are too small", 1, 64, 8 },
		{ "too many entries", 0xffff, 64, 56 },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		make_header(bytes, cases[i].count, cases[i].offset, cases[i].entry_size);
		CLEANUP(freep) char *path = write_file("damaged", bytes, sizeof bytes, 0755);
		print_message("%s\n", cases[i].name);
		assert_int_equal(elf_header_read(path, &header, &err), -ENOEXEC);
		assert_non_null(strstr(err.text, "damaged: not an ELF file"));
		assert_int_equal(elf_build_id_read(path, bytes), 0);
	}
}

static void a_foreign_machine_is_told(void **state)
{
	uint8_t bytes[4096] = { 0 };
	struct elf_header header;
	(void)state;

	make_header(bytes, 0, 0, 56);
	CLEANUP(freep) char *path = write_file("foreign", bytes, sizeof bytes, 0755);
	assert_int_equal(elf_header_read(path, &header, NULL), 0);
	assert_int_equal(header.machine, EM_AARCH64);
}

static void the_build_id_is_what_the_linker_was_told(void **state)
{
	static const uint8_t expected[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
	uint8_t id[ELF_BUILD_ID_MAX];
	(void)state;

	/* meson links it with --build-id=0x0123456789abcdef. */
	CLEANUP(freep) char *path = built_path("nothing_dynamic");
	assert_int_equal(elf_build_id_read(path, id), sizeof expected);
	assert_memory_equal(id, expected, sizeof expected);
	CLEANUP(freep) char *without = built_path("nothing_static");
	assert_int_equal(elf_build_id_read(without, id), 0);
	assert_int_equal(elf_build_id_read("/nonexistent", id), 0);
	assert_int_equal(elf_build_id_read("/dev/null", id), 0);
	assert_int_equal(elf_build_id_read("/", id), 0);
}

static void a_build_id_is_found_among_other_notes(void **state)
{
	/* One note that is another, then an id of 24 bytes, of which 20 are kept. */
	uint8_t notes[16 + 4 + 16 + 24] = {
		4, 0, 0, 0, 3, 0,  0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0,   9, 9,    9,
		0, 4, 0, 0, 0, 24, 0, 0, 0, 3, 0, 0, 0,   'G', 'N', 'U', 0, 0xaa, 0xbb,
	};
	uint8_t id[ELF_BUILD_ID_MAX];
	(void)state;

	assert_int_equal(elf_build_id_of_notes(notes, sizeof notes, 4, id), 20);
	assert_int_equal(id[0], 0xaa);
	assert_int_equal(id[1], 0xbb);
	/* Cut anywhere, it is not there, and nothing is read beyond. */
	for (size_t len = 0; len < sizeof notes; len++) {
		uint8_t *exact = malloc(len + 1);
		memcpy(exact, notes, len);
		assert_int_equal(elf_build_id_of_notes(exact, len, 4, id), 0);
		free(exact);
	}
	/* Lengths that wrap. */
	memset(notes, 0xff, 8);
	assert_int_equal(elf_build_id_of_notes(notes, sizeof notes, 4, id), 0);
}

static void a_fifo_is_not_waited_for(void **state)
{
	struct elf_header header;
	struct error err;
	uint8_t id[ELF_BUILD_ID_MAX];
	CLEANUP(freep) char *path = xasprintf("%s/fifo", folder);
	(void)state;

	assert_int_equal(mkfifo(path, 0700), 0);
	alarm(5);
	assert_int_equal(elf_header_read(path, &header, &err), -EINVAL);
	assert_non_null(strstr(err.text, "not a regular file"));
	assert_int_equal(elf_build_id_read(path, id), 0);
	alarm(0);
}

static void a_program_is_itself(void **state)
{
	struct target_program program;
	(void)state;

	CLEANUP(freep) char *path = built_path("nothing_static_pie");
	assert_int_equal(target_program_inspect(path, &program, NULL), 0);
	assert_string_equal(program.path, path);
	assert_int_equal(program.script_levels, 0);
	assert_true(program.elf.is_static);
	assert_false(program.is_privileged);
}

static void a_script_is_its_interpreter(void **state)
{
	static const char *const heads[] = {
		"#!%s\n",    "#! %s\n",         "#!\t %s \t-x a b\n", "#!%s",
		"#!%s -x\n", "#!%s\n\0garbage", "#!%s #\n",
	};
	CLEANUP(freep) char *interpreter = built_path("nothing_static");
	(void)state;

	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
		struct target_program program;
		char text[512];
		snprintf(text, sizeof text, heads[i], interpreter);
		CLEANUP(freep) char *path = write_script("script", text);
		assert_int_equal(target_program_inspect(path, &program, NULL), 0);
		assert_string_equal(program.path, interpreter);
		assert_int_equal(program.script_levels, 1);
		assert_true(program.elf.is_static);
	}
}

/* What the kernel does with it: the exit status, or -1 if it cannot be executed. */
static int run(const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl(path, path, (char *)NULL);
		_exit(errno == ELOOP ? 111 : 112);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void scripts_nest_as_deep_as_the_kernel_follows(void **state)
{
	CLEANUP(freep) char *program_path = built_path("nothing_dynamic");
	char last[512];
	(void)state;

	snprintf(last, sizeof last, "%s", program_path);
	for (unsigned level = 1; level <= 7; level++) {
		struct target_program program;
		struct error err;
		char text[600];
		char name[16];
		snprintf(text, sizeof text, "#!%s\n", last);
		snprintf(name, sizeof name, "level%u", level);
		CLEANUP(freep) char *path = write_script(name, text);
		snprintf(last, sizeof last, "%s", path);

		int kernel = run(path);
		int rc = target_program_inspect(path, &program, &err);
		print_message("%u levels: the kernel gives %d\n", level, kernel);
		if (kernel == 0) {
			assert_int_equal(rc, 0);
			assert_int_equal(program.script_levels, level);
			assert_string_equal(program.path, program_path);
		} else {
			assert_int_equal(kernel, 111);
			assert_int_equal(rc, -ELOOP);
			assert_non_null(strstr(err.text, "too many interpreters"));
		}
	}
}

static void what_cannot_run_says_why(void **state)
{
	static const struct {
		const char *name;
		const char *text; /* of a script; NULL: name is the path */
		mode_t mode;
		int rc;
		const char *sentence;
	} cases[] = {
		{ "/nonexistent/x", NULL, 0, -ENOENT,
		  "cannot run /nonexistent/x: No such file" },
		{ "/", NULL, 0, -EACCES, "it is a directory" },
		{ "/dev/null", NULL, 0, -EACCES, "not a regular file" },
		{ "plain", "echo\n", 0755, -ENOEXEC, "neither an ELF file nor a script" },
		{ "empty", "", 0755, -ENOEXEC, "neither an ELF file nor a script" },
		{ "nothing", "#!\n", 0755, -ENOEXEC, "names no interpreter" },
		{ "lost", "#!/nonexistent/sh\n", 0755, -ENOENT,
		  "its interpreter: cannot run /nonexistent/sh" },
		{ "unexecutable", "#!/bin/sh\n", 0644, -EACCES, "cannot run" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct target_program program;
		struct error err;
		CLEANUP(freep)
		char *path = cases[i].text ? write_file(cases[i].name, cases[i].text,
							strlen(cases[i].text), cases[i].mode)
					   : xstrdup(cases[i].name);
		print_message("%s\n", cases[i].name);
		assert_int_equal(target_program_inspect(path, &program, &err), cases[i].rc);
		assert_non_null(strstr(err.text, cases[i].sentence));
	}
}

static void an_interpreter_that_is_cut_off_is_not_run(void **state)
{
	struct target_program program;
	char text[1024] = "#!/";
	(void)state;

	memset(text + 3, 'a', sizeof text - 4);
	CLEANUP(freep) char *path = write_script("long", text);
	assert_int_equal(target_program_inspect(path, &program, NULL), -ENOEXEC);
}

static void set_uid_programs_are_privileged(void **state)
{
	struct target_program program;
	CLEANUP(freep) char *source = built_path("nothing_static");
	(void)state;

	int fd = open(source, O_RDONLY | O_CLOEXEC);
	char *bytes = malloc(8 << 20);
	ssize_t len = read(fd, bytes, 8 << 20);
	close(fd);
	CLEANUP(freep) char *path = write_file("setuid", bytes, (size_t)len, 04755);
	free(bytes);
	assert_int_equal(target_program_inspect(path, &program, NULL), 0);
	assert_true(program.is_privileged);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_tells_programs_apart),
		cmocka_unit_test(damaged_headers_are_refused_with_a_sentence),
		cmocka_unit_test(a_foreign_machine_is_told),
		cmocka_unit_test(the_build_id_is_what_the_linker_was_told),
		cmocka_unit_test(a_build_id_is_found_among_other_notes),
		cmocka_unit_test(a_fifo_is_not_waited_for),
		cmocka_unit_test(a_program_is_itself),
		cmocka_unit_test(a_script_is_its_interpreter),
		cmocka_unit_test(scripts_nest_as_deep_as_the_kernel_follows),
		cmocka_unit_test(what_cannot_run_says_why),
		cmocka_unit_test(an_interpreter_that_is_cut_off_is_not_run),
		cmocka_unit_test(set_uid_programs_are_privileged),
	};

	if (argc != 2)
		return 2;
	built = argv[1];
	snprintf(folder, sizeof folder, "/tmp/test_program.XXXXXX");
	if (!mkdtemp(folder))
		return 2;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	CLEANUP(freep) char *remove = xasprintf("rm -rf %s", folder);
	return system(remove) != 0 || failed;
}
