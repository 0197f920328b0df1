#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/machine_code.h"

#define START 0x10000
#define LEN   12

/* As assemblers write them. */
static const struct {
	const char *name;
	uint16_t machine;
	uint8_t code[LEN];
	enum code_reference_kind kind;
	uint64_t target;
} cases[] = {
	{ "lea 0x100(%rip),%rdi",
	  EM_X86_64,
	  { 0x48, 0x8d, 0x3d, 0, 1 },
	  CODE_REFERENCE_ADDRESS,
	  0x10107 },
	{ "mov $0x4010,%edi", EM_X86_64, { 0xbf, 0x10, 0x40 }, CODE_REFERENCE_ADDRESS, 0x4010 },
	{ "jmp", EM_X86_64, { 0xe9, 0xfb, 0xff, 0xff, 0xff }, CODE_REFERENCE_JUMP, START },
	{ "jae", EM_X86_64, { 0x0f, 0x83, 0x10 }, CODE_REFERENCE_JUMP, 0x10016 },
	{ "call", EM_X86_64, { 0xe8, 0, 0xff, 0xff, 0xff }, CODE_REFERENCE_CALL, 0xff05 },
	{ "mov 0x20(%rip),%edi",
	  EM_X86_64,
	  { 0x8b, 0x3d, 0x20 },
	  CODE_REFERENCE_OPERAND,
	  0x10026 },
	{ "cmp %edi,0x20(%rip)",
	  EM_X86_64,
	  { 0x39, 0x3d, 0x20 },
	  CODE_REFERENCE_OPERAND,
	  0x10026 },
	{ "cmp 0x20(%rip),%edi",
	  EM_X86_64,
	  { 0x3b, 0x3d, 0x20 },
	  CODE_REFERENCE_OPERAND,
	  0x10026 },
	{ "mov 0x20(%rax),%edi", EM_X86_64, { 0x8b, 0x78, 0x20 }, CODE_REFERENCE_NONE, 0 },
	{ "ret", EM_X86_64, { 0xc3 }, CODE_REFERENCE_NONE, 0 },
	{ "adrp x0, page 1; nop; add x0, x0, #0x10",
	  EM_AARCH64,
	  { 0, 0, 0, 0xb0, 0x1f, 0x20, 0x03, 0xd5, 0, 0x40, 0, 0x91 },
	  CODE_REFERENCE_ADDRESS,
	  0x11010 },
	{ "adrp x1, page 2; ldr w2, [x1, #8]",
	  EM_AARCH64,
	  { 1, 0, 0, 0xd0, 0x22, 0x08, 0x40, 0xb9 },
	  CODE_REFERENCE_OPERAND,
	  0x12008 },
	{ "adrp x1, page 2; ldr x2, [x1, #16]",
	  EM_AARCH64,
	  { 1, 0, 0, 0xd0, 0x22, 0x08, 0x40, 0xf9 },
	  CODE_REFERENCE_OPERAND,
	  0x12010 },
	{ "bl", EM_AARCH64, { 0, 1, 0, 0x94 }, CODE_REFERENCE_CALL, 0x10400 },
	{ "b backwards", EM_AARCH64, { 0, 0xff, 0xff, 0x17 }, CODE_REFERENCE_JUMP, 0xfc00 },
	{ "b.eq", EM_AARCH64, { 0, 2, 0, 0x54 }, CODE_REFERENCE_JUMP, 0x10040 },
	{ "cbz", EM_AARCH64, { 0, 2, 0, 0xb4 }, CODE_REFERENCE_JUMP, 0x10040 },
	{ "tbz", EM_AARCH64, { 0, 2, 0x18, 0x36 }, CODE_REFERENCE_JUMP, 0x10040 },
	{ "ret", EM_AARCH64, { 0xc0, 0x03, 0x5f, 0xd6 }, CODE_REFERENCE_NONE, 0 },
};

static void an_instruction_refers_to_what_it_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct code_reference found =
			machine_code_at(cases[i].machine, cases[i].code, LEN, 0, START);

		if (found.kind != cases[i].kind || found.target != cases[i].target)
			fail_msg("%s: kind %d, %#lx", cases[i].name, (int)found.kind,
				 (unsigned long)found.target);
	}
}

static void what_is_cut_short_is_no_instruction(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct code_reference found =
			machine_code_at(cases[i].machine, cases[i].code, 3, 0, START);

		assert_int_equal(found.kind, CODE_REFERENCE_NONE);
	}
}

static void calls_of_a_function_are_found_in_turn(void **state)
{
	(void)state;
	static const uint8_t x86_64[] = { 0x90, 0xe8, 0xfa, 0x0f, 0, 0,      /* call 0x11000 */
					  0xe8, 0xf6, 0x0f, 0,    0,         /* call 0x11001 */
					  0xe8, 0xf0, 0x0f, 0,    0, 0xe8 }; /* call 0x11000 */
	static const uint8_t aarch64[] = { 0x1f, 0x20, 0x03, 0xd5, 0xff, 0x03,
					   0,    0x94, 0xff, 0x03, 0,    0x94 };

	assert_int_equal(
		machine_code_find_call(EM_X86_64, x86_64, sizeof x86_64, 0, START, 0x11000), 1);
	assert_int_equal(
		machine_code_find_call(EM_X86_64, x86_64, sizeof x86_64, 2, START, 0x11000),
		11);
	assert_int_equal(
		machine_code_find_call(EM_X86_64, x86_64, sizeof x86_64, 12, START, 0x11000),
		sizeof x86_64);
	assert_int_equal(
		machine_code_find_call(EM_AARCH64, aarch64, sizeof aarch64, 0, START, 0x11000),
		4);
	assert_int_equal(
		machine_code_find_call(EM_AARCH64, aarch64, sizeof aarch64, 5, START, 0x11000),
		sizeof aarch64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instruction_refers_to_what_it_names),
		cmocka_unit_test(what_is_cut_short_is_no_instruction),
		cmocka_unit_test(calls_of_a_function_are_found_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
