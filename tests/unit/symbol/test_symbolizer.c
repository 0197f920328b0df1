/* What the symbolizer does with modules, asked about this very program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/notes.h"
#include "symbol/module.h"
#include "symbol/symbolizer.h"
#include "target/maps.h"

enum { FUNCTION_LINE = __LINE__ + 1 };
__attribute__((noinline)) static int a_function_to_find(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

/* Where that function stands in our file. */
static uint64_t file_offset_of_function(void)
{
	uintptr_t address = (uintptr_t)a_function_to_find;
	struct maps *maps;

	assert_int_equal(maps_read(getpid(), &maps, NULL), 0);
	const struct mapping *mapping = maps_find(maps, address);
	uint64_t offset = address - mapping->start + mapping->file_offset;
	maps_free(maps);
	return offset;
}

struct seen {
	struct symbol_location last;
	size_t count;
};

static void see(void *context, const struct symbol_location *location)
{
	struct seen *seen = context;

	seen->last = *location;
	seen->count++;
}

static struct seen look_up(struct symbol_module *module, uint64_t offset)
{
	struct seen seen = { .count = 0 };

	symbol_module_look_up(module, offset, see, &seen, NULL);
	return seen;
}

static void a_function_has_its_name_file_and_line(void **state)
{
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(NULL);
	struct symbol_module *module =
		symbolizer_open_elf(symbolizer, "/proc/self/exe", NULL, 0);
	(void)state;

	struct seen seen = look_up(module, file_offset_of_function());
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.last.name, "a_function_to_find");
	assert_true(seen.last.is_named);
	assert_false(seen.last.is_inlined);
	assert_non_null(strstr(seen.last.file, "test_symbolizer.c"));
	assert_int_equal(seen.last.line, FUNCTION_LINE);
	assert_in_range(seen.last.line_number, FUNCTION_LINE, FUNCTION_LINE + 3);
}

static void an_answer_is_kept(void **state)
{
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(NULL);
	struct symbol_module *module =
		symbolizer_open_elf(symbolizer, "/proc/self/exe", NULL, 0);
	uint64_t offset = file_offset_of_function();
	(void)state;

	struct seen first = look_up(module, offset);
	struct seen second = look_up(module, offset);
	assert_ptr_equal(first.last.name, second.last.name);
	/* Another address of the same function has the very same string. */
	assert_ptr_equal(look_up(module, offset + 1).last.name, first.last.name);
}

static void a_path_with_the_same_build_is_the_same_module(void **state)
{
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(NULL);
	const uint8_t id[20] = { 1 };
	const uint8_t other[20] = { 2 };
	(void)state;

	struct symbol_module *module = symbolizer_open_elf(symbolizer, "/bin/sh", id, 20);
	assert_ptr_equal(symbolizer_open_elf(symbolizer, "/bin/sh", id, 20), module);
	assert_ptr_not_equal(symbolizer_open_elf(symbolizer, "/bin/sh", other, 20), module);
	assert_ptr_not_equal(symbolizer_open_elf(symbolizer, "/bin/sh", NULL, 0), module);
	assert_ptr_not_equal(symbolizer_open_elf(symbolizer, "/bin/cat", id, 20), module);
}

static void nothing_is_opened_before_it_is_asked(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(notes);
	struct symbol_module *module =
		symbolizer_open_elf(symbolizer, "/nonexistent/libx.so.1", NULL, 0);
	(void)state;

	assert_int_equal(notes_count(notes), 0);
	assert_string_equal(look_up(module, 0x10).last.name, "libx.so.1+0x10");
	assert_string_equal(look_up(module, 0x20).last.name, "libx.so.1+0x20");
	assert_int_equal(notes_count(notes), 1);
}

static void code_made_in_one_region_is_one_place(void **state)
{
	static const char map[] = "3040 10 named\n";
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(NULL);
	struct symbol_module *module =
		symbolizer_open_perf_map(symbolizer, "[jit]", map, sizeof map - 1);
	(void)state;

	symbol_module_add_region(module, 0x1000, 0x2000);
	symbol_module_add_region(module, 0x4000, 0x5000);
	symbol_module_add_region(module, 0x3000, 0x4000);
	symbol_module_add_region(module, 0x3800, 0x3900);
	symbol_module_add_region(module, 0x6000, 0x6000);
	assert_string_equal(look_up(module, 0x1fff).last.name, "[jit]+0x1000…0x2000");
	assert_string_equal(look_up(module, 0x2000).last.name, "[jit]+0x2000");
	assert_string_equal(look_up(module, 0x3000).last.name, "[jit]+0x3000…0x5000");
	assert_string_equal(look_up(module, 0x4fff).last.name, "[jit]+0x3000…0x5000");
	assert_string_equal(look_up(module, 0x304f).last.name, "named");
	assert_string_equal(look_up(module, 0x6000).last.name, "[jit]+0x6000");
}

/* More modules than files may be open; paths are made different by "/./". */
static void modules_do_not_hold_files_open(void **state)
{
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(NULL);
	struct rlimit before, few = { 32, 32 };
	char path[512] = "/proc/self/exe";
	uint64_t offset = file_offset_of_function();
	(void)state;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (size_t i = 0; i < 60; i++) {
		memmove(path + 2, path, strlen(path) + 1);
		memcpy(path, "/.", 2);
		struct symbol_module *module = symbolizer_open_elf(symbolizer, path, NULL, 0);
		assert_string_equal(look_up(module, offset).last.name, "a_function_to_find");
	}
	setrlimit(RLIMIT_NOFILE, &before);
}

static void a_source_that_gave_its_memory_back_answers_again(void **state)
{
	struct intern strings = { 0 };
	void *source = elf_source_new(&(struct elf_source_options){ .path = "/proc/self/exe" },
				      &strings, NULL);
	uint64_t offset = file_offset_of_function();
	(void)state;

	assert_int_equal(elf_source.held_size(source), 0);
	for (int i = 0; i < 3; i++) {
		struct answer *answer = xzalloc(sizeof *answer);
		elf_source.look_up(source, offset, answer);
		assert_int_equal(answer->count, 1);
		assert_string_equal(answer->locations[0].name, "a_function_to_find");
		assert_true(elf_source.held_size(source) > 0);
		elf_source.release(source);
		assert_int_equal(elf_source.held_size(source), 0);
		/* Names outlive the files. */
		assert_string_equal(answer->locations[0].name, "a_function_to_find");
		free(answer);
	}
	elf_source.free(source);
	intern_done(&strings);
}

static void an_address_that_no_segment_has_is_an_offset(void **state)
{
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(NULL);
	struct symbol_module *module =
		symbolizer_open_elf(symbolizer, "/proc/self/exe", NULL, 0);
	uint64_t address;
	struct seen seen = { .count = 0 };
	(void)state;

	symbol_module_look_up(module, UINT64_MAX - 1, see, &seen, &address);
	assert_string_equal(seen.last.name, "exe+0xfffffffffffffffe");
	assert_int_equal(address, UINT64_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_has_its_name_file_and_line),
		cmocka_unit_test(an_answer_is_kept),
		cmocka_unit_test(a_path_with_the_same_build_is_the_same_module),
		cmocka_unit_test(code_made_in_one_region_is_one_place),
		cmocka_unit_test(nothing_is_opened_before_it_is_asked),
		cmocka_unit_test(modules_do_not_hold_files_open),
		cmocka_unit_test(a_source_that_gave_its_memory_back_answers_again),
		cmocka_unit_test(an_address_that_no_segment_has_is_an_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
