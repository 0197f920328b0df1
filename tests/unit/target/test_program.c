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

#include "base/memory.h"
#include "target/build_id.h"
#include "target/program.h"

#if defined(__x86_64__)
#define PROGRAM_USUAL_LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define PROGRAM_USUAL_LOADER "/lib/ld-linux-aarch64.so.1"
#endif

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

/* Judged as a program of its own, or of a script; out may be NULL. */
static const char *why_not(const char *path, struct target_program *out)
{
	static struct target_program program;

	target_program_judge(path, NULL, &program);
	if (out != NULL)
		*out = program;
	assert_true(program.is_enterable == (program.why_not[0] == '\0'));
	return program.why_not;
}

static void what_no_loader_starts_is_static(void **state)
{
	static const struct {
		const char *name;
		const char *why_not;
	} cases[] = {
		{ "nothing_dynamic", "" },
		{ "nothing_static", "statically linked" },
		{ "nothing_static_pie", "statically linked" },
		{ "libnothing.so", "statically linked" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CLEANUP(freep) char *path = built_path(cases[i].name);
		print_message("%s\n", cases[i].name);
		assert_string_equal(why_not(path, NULL), cases[i].why_not);
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

static void damaged_headers_have_no_build_id(void **state)
{
	uint8_t bytes[4096] = { 0 };
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
		assert_int_equal(elf_build_id_read(path, bytes), 0);
	}
}

static void the_build_id_is_what_the_linker_was_given(void **state)
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
	uint8_t id[ELF_BUILD_ID_MAX];
	CLEANUP(freep) char *path = xasprintf("%s/fifo", folder);
	(void)state;

	assert_int_equal(mkfifo(path, 0700), 0);
	alarm(60);
	assert_non_null(strstr(why_not(path, NULL), "neither"));
	assert_int_equal(elf_build_id_read(path, id), 0);
	alarm(0);
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
		assert_string_equal(why_not(path, &program), "statically linked");
		assert_string_equal(program.path, interpreter);
		assert_int_equal(program.levels, 1);
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
		char text[600];
		char name[16];
		snprintf(text, sizeof text, "#!%s\n", last);
		snprintf(name, sizeof name, "level%u", level);
		CLEANUP(freep) char *path = write_script(name, text);
		snprintf(last, sizeof last, "%s", path);

		int kernel = run(path);
		const char *reason = why_not(path, &program);
		print_message("%u levels: the kernel gives %d\n", level, kernel);
		if (kernel == 0) {
			assert_string_equal(reason, "");
			assert_int_equal(program.levels, level);
			assert_string_equal(program.path, program_path);
		} else {
			assert_int_equal(kernel, 111);
			assert_non_null(strstr(reason, "neither"));
		}
	}
}

static void what_cannot_run_says_why(void **state)
{
	static const struct {
		const char *name;
		const char *text; /* of a script; NULL: name is the path */
		const char *why_not;
	} cases[] = {
		{ "/nonexistent/x", NULL, "its program file is gone" },
		{ "/dev/null/x", NULL, "its program file is gone" },
		{ "/", NULL, "neither an ELF file nor a script with \"#!\"" },
		{ "/dev/null", NULL, "neither an ELF file nor a script with \"#!\"" },
		{ "plain", "echo\n", "neither an ELF file nor a script with \"#!\"" },
		{ "empty", "", "neither an ELF file nor a script with \"#!\"" },
		{ "nothing", "#!\n", "neither an ELF file nor a script with \"#!\"" },
		{ "lost", "#!/nonexistent/sh\n", "its program file is gone" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CLEANUP(freep)
		char *path = cases[i].text ? write_script(cases[i].name, cases[i].text)
					   : xstrdup(cases[i].name);
		print_message("%s\n", cases[i].name);
		assert_string_equal(why_not(path, NULL), cases[i].why_not);
	}
}

static void an_interpreter_that_is_cut_off_is_not_run(void **state)
{
	char text[1024] = "#!/";
	(void)state;

	memset(text + 3, 'a', sizeof text - 4);
	CLEANUP(freep) char *path = write_script("long", text);
	assert_int_equal(run(path), 112);
	assert_non_null(strstr(why_not(path, NULL), "neither"));
}

static void ld_so_is_what_it_starts(void **state)
{
	CLEANUP(freep) char *path = built_path("nothing_dynamic");
	struct target_program program;
	(void)state;

	char *run_it[] = { (char *)PROGRAM_USUAL_LOADER, path, NULL };
	target_program_judge(PROGRAM_USUAL_LOADER, run_it, &program);
	assert_true(program.is_enterable);
	assert_string_equal(program.path, path);
	char *list_it[] = { (char *)PROGRAM_USUAL_LOADER, (char *)"--list", path, NULL };
	target_program_judge(PROGRAM_USUAL_LOADER, list_it, &program);
	assert_string_equal(program.why_not, "the dynamic loader itself");
	assert_string_equal(why_not(PROGRAM_USUAL_LOADER, NULL), "the dynamic loader itself");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_no_loader_starts_is_static),
		cmocka_unit_test(damaged_headers_have_no_build_id),
		cmocka_unit_test(the_build_id_is_what_the_linker_was_given),
		cmocka_unit_test(a_build_id_is_found_among_other_notes),
		cmocka_unit_test(a_fifo_is_not_waited_for),
		cmocka_unit_test(a_script_is_its_interpreter),
		cmocka_unit_test(scripts_nest_as_deep_as_the_kernel_follows),
		cmocka_unit_test(what_cannot_run_says_why),
		cmocka_unit_test(an_interpreter_that_is_cut_off_is_not_run),
		cmocka_unit_test(ld_so_is_what_it_starts),
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
