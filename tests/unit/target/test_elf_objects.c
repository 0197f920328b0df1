/* The variables of an ELF file: of this very program. */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "target/elf_objects.h"

/* With clang's ASan a variable has the bytes beside it that are watched, too. */
#ifdef __clang__
__attribute__((no_sanitize("address")))
#endif
int written_to[8] = { 1 };
static int zeroed[4];
static const int constant[4] = { 1, 2, 3, 4 };

/* The first is the program itself. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *place)
{
	(void)size;
	*(uint64_t *)place = info->dlpi_addr;
	return 1;
}

static void variables_are_found_by_addresses_within_them(void **state)
{
	struct elf_objects objects;
	uint64_t bias = 0, offset, size;

	(void)state;
	dl_iterate_phdr(take_bias, &bias);
	elf_objects_read("/proc/self/exe", &objects);
	assert_true(objects.count > 0);
	assert_string_equal(
		elf_objects_find(&objects, (uintptr_t)&written_to[2] - bias, &offset, &size),
		"written_to");
	assert_int_equal(offset, 8);
	assert_int_equal(size, sizeof written_to);
	zeroed[1] = written_to[0];
	assert_string_equal(
		elf_objects_find(&objects, (uintptr_t)zeroed - bias, &offset, &size), "zeroed");
	assert_int_equal(offset, 0);
	/* Nothing that cannot be written to is a lock. */
	assert_null(elf_objects_find(&objects, (uintptr_t)&constant[1] - bias, &offset, &size));
	assert_null(elf_objects_find(&objects, 0, &offset, &size));
	elf_objects_done(&objects);
}

static void what_is_no_elf_file_has_none(void **state)
{
	struct elf_objects objects;
	uint64_t offset, size;

	(void)state;
	elf_objects_read("/proc/self/status", &objects);
	assert_null(elf_objects_find(&objects, 0x1000, &offset, &size));
	elf_objects_done(&objects);
	elf_objects_read("/nonexistent", &objects);
	assert_int_equal(objects.count, 0);
	elf_objects_done(&objects);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_found_by_addresses_within_them),
		cmocka_unit_test(what_is_no_elf_file_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
