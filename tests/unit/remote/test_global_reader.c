/* Which variable a small function returns the value of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pages.h"
#include "remote/global_reader.h"

#define FUNCTION (PAGES_BEGIN + 0x1000)
#define SLOT     (PAGES_BEGIN + 0x2000)
#define RUNTIME  (PAGES_BEGIN + 0x3000)

static bool find(const uint8_t *code, size_t len, uint32_t operand, uint64_t slot_value,
		 uint64_t *out_address)
{
	const int32_t distance = (int32_t)(SLOT - (FUNCTION + operand + 4));
	struct mem mem;
	struct pages *pages = pages_new(&mem);
	bool found;

	pages_put(pages, FUNCTION, code, len);
	pages_put(pages, FUNCTION + operand, &distance, sizeof distance);
	pages_put_word(pages, SLOT, slot_value);
	found = global_reader_find(&mem, FUNCTION, out_address);
	memory_done(&mem);
	free(pages);
	return found;
}

static void a_variable_of_its_own_file_is_loaded_at_once(void **state)
{
	/* endbr64; mov d(%rip),%rax; ret */
	static const uint8_t code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8b,
					0x05, 0,    0,    0,    0,    0xc3 };
	uint64_t address;

	(void)state;
	assert_true(find(code, sizeof code, 7, 5, &address));
	assert_int_equal(address, SLOT);
}

static void a_field_is_behind_the_slot(void **state)
{
	/* mov d(%rip),%rax; mov 0x278(%rax),%rax; ret */
	static const uint8_t code[] = { 0x48, 0x8b, 0x05, 0,    0, 0, 0,   0x48,
					0x8b, 0x80, 0x78, 0x02, 0, 0, 0xc3 };
	/* push %rbp; mov %rsp,%rbp; mov d(%rip),%rax; mov 0x20(%rax),%rax; pop %rbp; ret */
	static const uint8_t framed[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x05, 0,   0,
					  0,    0,    0x48, 0x8b, 0x40, 0x20, 0x5d, 0xc3 };
	uint64_t address;

	(void)state;
	assert_true(find(code, sizeof code, 3, RUNTIME, &address));
	assert_int_equal(address, RUNTIME + 0x278);
	assert_true(find(framed, sizeof framed, 7, RUNTIME, &address));
	assert_int_equal(address, RUNTIME + 0x20);
	assert_false(find(code, sizeof code, 3, NOWHERE, &address));
}

static void other_code_shows_nothing(void **state)
{
	/* sub $8,%rsp; lea d(%rip),%rdi */
	static const uint8_t code[] = { 0x48, 0x83, 0xec, 0x08, 0x48, 0x8d, 0x3d, 0, 0, 0, 0 };
	uint64_t address;

	(void)state;
	assert_false(find(code, sizeof code, 7, RUNTIME, &address));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variable_of_its_own_file_is_loaded_at_once),
		cmocka_unit_test(a_field_is_behind_the_slot),
		cmocka_unit_test(other_code_shows_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
