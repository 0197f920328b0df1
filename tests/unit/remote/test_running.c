/* A running thread's registers and stack, out of the kernel's record. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "remote/running.h"

#define REGISTERS 18
#define WORDS     64

/* The process, the ABI, 18 registers, the stack's size, four words of it, how many were copied. */
static size_t make(uint64_t words[WORDS], uint64_t size, uint64_t copied)
{
	size_t at = 0;

	words[at++] = 1;
	words[at++] = 2; /* PERF_SAMPLE_REGS_ABI_64 */
	for (uint64_t i = 0; i < REGISTERS; i++)
		words[at++] = 100 + i;
	words[at++] = size;
	for (uint64_t i = 0; i < 4; i++)
		words[at++] = 1000 + i;
	words[at++] = copied;
	return at * sizeof *words;
}

static void a_record_has_registers_by_dwarf_numbers_and_the_stack(void **state)
{
	struct running_copy copy;
	uint64_t words[WORDS], word;

	(void)state;
	assert_int_equal(running_parse(words, make(words, 32, 24), &copy), 0);
	/* ax bx cx dx si di bp sp ip */
	assert_int_equal(copy.registers.pc, 108);
	assert_int_equal(copy.registers.sp, 107);
	assert_int_equal(copy.registers.fp, 106);
	assert_int_equal(copy.registers.bx, 101);
	assert_int_equal(copy.registers.all[1], 103);
	assert_int_equal(copy.registers.all[2], 102);
	assert_int_equal(copy.registers.all[8], 110);
	assert_int_equal(copy.registers.all[15], 117);
	assert_true(copy.registers.has_all);
	assert_int_equal(copy.len, 24);
	memcpy(&word, copy.stack + 16, sizeof word);
	assert_int_equal(word, 1002);
	running_done(&copy);
}

static void records_that_are_cut_or_lie_are_none(void **state)
{
	struct running_copy copy;
	uint64_t words[WORDS];
	const size_t len = make(words, 32, 24);

	(void)state;
	for (size_t i = 0; i < len; i++)
		assert_int_equal(running_parse(words, i, &copy), -EBADMSG);
	make(words, 32, 33);
	assert_int_equal(running_parse(words, len, &copy), -EBADMSG);
	make(words, UINT64_MAX, 24);
	assert_int_equal(running_parse(words, len, &copy), -EBADMSG);
	make(words, 32, 24);
	words[1] = 0; /* no registers: a thread of the kernel */
	assert_int_equal(running_parse(words, len, &copy), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_has_registers_by_dwarf_numbers_and_the_stack),
		cmocka_unit_test(records_that_are_cut_or_lie_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
