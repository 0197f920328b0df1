/* Names that come from no ELF file: mangled ones, perf maps, jitdumps, the vDSO. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/notes.h"
#include "base/table.h"
#include "base/text.h"
#include "symbol/demangle.h"
#include "symbol/symbolizer.h"

static void names_are_as_people_write_them(void **state)
{
	static const struct {
		const char *name;
		const char *mangled;
		const char *readable;
	} cases[] = {
		{ "C", "main", "main" },
		{ "C with underscores", "__libc_start_main", "__libc_start_main" },
		{ "C++ with parameters", "_ZN3foo3barEiRKSs",
		  "foo::bar(int, std::string const&)" },
		{ "a constructor", "_ZN5ShapeC2Ev", "Shape::Shape()" },
		{ "a template", "_Z5twiceIdET_S0_", "double twice<double>(double)" },
		{ "a clone", "_Z3fooi.constprop.0", "foo(int) [clone .constprop.0]" },
		{ "a C clone", "foo.part.0", "foo.part.0" },
		{ "a lambda", "_ZZ4mainENKUlvE_clEv",
		  "main::{lambda()#1}::operator()() const" },
		{ "static initializers", "_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main" },
		{ "old Rust, without its hash", "_ZN4core3fmt5write17h0123456789abcdefE",
		  "core::fmt::write" },
		{ "old Rust, with escapes",
		  "_ZN49_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$Drop$GT$"
		  "4drop17h0123456789abcdefE",
		  "<alloc::vec::Vec<T> as Drop>::drop" },
		{ "new Rust, without its hash", "_RNvNtCs1234_7mycrate3foo3bar",
		  "mycrate::foo::bar" },
		{ "a version", "memcpy@@GLIBC_2.14", "memcpy" },
		{ "a mangled name with a version", "_Z3fooi@VERSION_1", "foo(int)" },
		{ "mangled, but not well", "_Z9999999999foo", "_Z9999999999foo" },
		{ "only a prefix", "_Z", "_Z" },
		{ "an at sign alone", "@", "@" },
		{ "nothing", "", "" },
	};
	struct intern strings = { 0 };
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		print_message("%s\n", cases[i].name);
		assert_string_equal(demangle(&strings, cases[i].mangled), cases[i].readable);
	}
	intern_done(&strings);
}

/* Longer than the 1,024 bytes that the demangler takes if it is not asked otherwise. */
static void long_names_are_demangled_too(void **state)
{
	struct intern strings = { 0 };
	struct text mangled = { 0 };
	(void)state;

	text_add(&mangled, "_ZN");
	for (int i = 0; i < 200; i++)
		text_add(&mangled, "12abcdefghijkl");
	text_add(&mangled, "Ev");
	assert_true(mangled.len > 2048);
	assert_memory_equal(demangle(&strings, text_string(&mangled)), "abcdefghijkl::abcdef",
			    20);
	text_done(&mangled);
	intern_done(&strings);
}

/* f(A<A<…>, A<…>>): each substitution doubles the text, to a gigabyte in 100 bytes. */
static void a_name_that_explodes_stays_mangled(void **state)
{
	struct intern strings = { 0 };
	struct text mangled = { 0 };
	(void)state;

	text_add(&mangled, "_Z1f1AIiiE");
	for (int i = 0; i < 30; i++) {
		const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		if (i == 0)
			text_add(&mangled, "S_IS0_S0_E");
		else
			text_addf(&mangled, "S_IS%c_S%c_E", digits[i], digits[i]);
	}
	assert_string_equal(demangle(&strings, text_string(&mangled)), text_string(&mangled));
	text_done(&mangled);
	intern_done(&strings);
}

static void keep_name(void *context, const struct symbol_location *location)
{
	const char **name = context;

	*name = location->is_named ? location->name : "unnamed";
}

static const char *name_at(struct symbol_module *module, uint64_t address)
{
	const char *name = NULL;
	uint64_t same;

	symbol_module_look_up(module, address, keep_name, &name, &same);
	assert_int_equal(same, address);
	return name;
}

static void in_a_perf_map_the_newest_line_wins(void **state)
{
	static const char text[] = "1000 100 old\n"
				   "1040 20 inside of it\n"
				   "0x2000 0x10 with prefixes\n"
				   "3000 10 first owner\r\n"
				   "3000 10 second owner\n"
				   "no line\n"
				   "4000 nothing\n"
				   "5000 0 empty\n"
				   "ffffffffffffff00 1000 too long\n"
				   "11111111111111111 10 too large\n"
				   "6000 10 torn";
	static const struct {
		uint64_t address;
		const char *name;
	} cases[] = {
		{ 0xfff, "unnamed" },
		{ 0x1000, "old" },
		{ 0x1040, "inside of it" },
		{ 0x105f, "inside of it" },
		{ 0x1060, "old" },
		{ 0x10ff, "old" },
		{ 0x1100, "unnamed" },
		{ 0x2008, "with prefixes" },
		{ 0x3000, "second owner" },
		{ 0x4000, "unnamed" },
		{ 0x5000, "unnamed" },
		{ 0x6000, "unnamed" },
		{ 0xffffffffffffff10, "unnamed" },
	};
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(NULL);
	struct symbol_module *module =
		symbolizer_open_perf_map(symbolizer, "/tmp/perf-1.map", text, strlen(text));
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(name_at(module, cases[i].address), cases[i].name);
}

static void keep_text(void *context, const struct symbol_location *location)
{
	const char **name = context;

	*name = location->name;
}

static void what_has_no_name_is_module_and_address(void **state)
{
	const char *name;
	(void)state;

	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(NULL);
	struct symbol_module *module =
		symbolizer_open_perf_map(symbolizer, "/tmp/perf-1.map", "", 0);
	symbol_module_look_up(module, 0x7f1234, keep_text, &name, NULL);
	assert_string_equal(name, "perf-1.map+0x7f1234");
}

struct dump {
	uint8_t bytes[1024];
	size_t len;
};

static void put(struct dump *dump, uint64_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		dump->bytes[dump->len++] = (uint8_t)(i < 8 ? value >> (8 * i) : 0);
}

static void put_head(struct dump *dump, uint32_t header_len)
{
	put(dump, 0x4a695444, 4);
	put(dump, 1, 4);
	put(dump, header_len, 4);
	put(dump, 0, header_len - 12);
}

static void put_load(struct dump *dump, uint64_t address, const char *name)
{
	put(dump, 0, 4);
	put(dump, 16 + 40 + strlen(name) + 1 + 16, 4);
	put(dump, 123, 8); /* time */
	put(dump, 1, 8);   /* pid, tid */
	put(dump, address, 8);
	put(dump, address, 8);
	put(dump, 16, 8); /* code size */
	put(dump, 1, 8);  /* index */
	for (size_t i = 0; i <= strlen(name); i++)
		put(dump, (uint8_t)name[i], 1);
	put(dump, 0, 16);
}

static void put_move(struct dump *dump, uint64_t from, uint64_t to)
{
	put(dump, 1, 4);
	put(dump, 16 + 48, 4);
	put(dump, 124, 8);
	put(dump, 1, 8);
	put(dump, to, 8);
	put(dump, from, 8);
	put(dump, to, 8);
	put(dump, 16, 8);
	put(dump, 1, 8);
}

static void put_unknown(struct dump *dump)
{
	put(dump, 77, 4);
	put(dump, 24, 4);
	put(dump, 125, 8);
	put(dump, 0, 8);
}

static void a_jitdump_is_read_to_its_torn_end(void **state)
{
	struct dump dump = { .len = 0 };
	(void)state;

	put_head(&dump, 48); /* longer than this version's */
	put_load(&dump, 0x1000, "first");
	put_unknown(&dump);
	put_load(&dump, 0x2000, "second");
	put_load(&dump, 0x1008, "newer");
	put_move(&dump, 0x2000, 0x3000);
	size_t whole = dump.len;
	put_load(&dump, 0x4000, "torn");
	for (size_t len = 0; len < dump.len; len++) {
		CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(NULL);
		CLEANUP(freep) uint8_t *exact = xmalloc(len + 1);
		memcpy(exact, dump.bytes, len);
		struct symbol_module *module =
			symbolizer_open_jitdump(symbolizer, "jit-1.dump", exact, len);
		assert_string_equal(name_at(module, 0x4000), "unnamed");
		assert_string_equal(name_at(module, 0x2010), "unnamed");
		if (len < whole)
			continue;
		assert_string_equal(name_at(module, 0x1000), "first");
		assert_string_equal(name_at(module, 0x1008), "newer");
		assert_string_equal(name_at(module, 0x1010), "newer");
		assert_string_equal(name_at(module, 0x2000), "second");
		assert_string_equal(name_at(module, 0x300f), "second");
	}
}

static void what_is_no_jitdump_is_noted(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(notes);
	struct symbol_module *module =
		symbolizer_open_jitdump(symbolizer, "jit-1.dump", "no jitdump at all", 17);
	(void)state;

	assert_string_equal(name_at(module, 0), "unnamed");
	assert_int_equal(notes_count(notes), 1);
	assert_non_null(strstr(notes_text(notes, 0, NULL), "jit-1.dump is no jitdump"));
}

static void the_vdso_has_names(void **state)
{
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(NULL);
	struct symbol_module *module = symbolizer_open_vdso(symbolizer);
	size_t found = 0;
	(void)state;

	if (getauxval(AT_SYSINFO_EHDR) == 0)
		skip();
	for (uint64_t offset = 0; offset < 0x4000; offset += 16) {
		const char *name = NULL;
		symbol_module_look_up(module, offset, keep_text, &name, NULL);
		found += strstr(name, "clock_gettime") != NULL;
	}
	assert_true(found > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_as_people_write_them),
		cmocka_unit_test(long_names_are_demangled_too),
		cmocka_unit_test(a_name_that_explodes_stays_mangled),
		cmocka_unit_test(in_a_perf_map_the_newest_line_wins),
		cmocka_unit_test(what_has_no_name_is_module_and_address),
		cmocka_unit_test(a_jitdump_is_read_to_its_torn_end),
		cmocka_unit_test(what_is_no_jitdump_is_noted),
		cmocka_unit_test(the_vdso_has_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
