/* A frame made by hand puts a thread back: the kernel takes it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

#include "attach/frame.h"

#define PLACE 0x7ffc00001000ULL

/* As ptrace has it on a processor that has AVX: legacy, header, and the upper halves. */
static uint8_t vectors[832];

static void fill_vectors(uint64_t mask, uint64_t used)
{
	memset(vectors, 0x5a, sizeof vectors);
	memcpy(vectors + 464, &mask, sizeof mask);
	memcpy(vectors + 512, &used, sizeof used);
}

static void test_the_frame_is_below_the_red_zone_and_aligned(void **state)
{
	(void)state;
	for (uint64_t sp = PLACE; sp < PLACE + 64; sp += 8) {
		const uint64_t place = frame_place(sp, sizeof vectors);

		assert_int_equal(place % 64, 0);
		assert_true(place + frame_bytes(sizeof vectors) <= sp - 128);
		assert_true(place + frame_bytes(sizeof vectors) + 128 + 64 > sp);
	}
}

static void test_state_that_has_to_be_asked_for_is_refused(void **state)
{
	(void)state;
	fill_vectors(7, 7);
	assert_in_range(frame_state_bytes(vectors, sizeof vectors), 576, sizeof vectors);
	fill_vectors(7 | 3ULL << 17, 7);
	assert_in_range(frame_state_bytes(vectors, sizeof vectors), 576, sizeof vectors);
	fill_vectors(7 | 3ULL << 17, 7 | 1ULL << 18);
	assert_int_equal(frame_state_bytes(vectors, sizeof vectors), 0);
	assert_int_equal(frame_state_bytes(vectors, 100), 0);
}

static void test_the_frame_has_what_rt_sigreturn_reads(void **state)
{
	struct user_regs_struct registers = {
		.rip = 0x1111,
		.rsp = 0x2222,
		.rax = 0x3333,
		.r12 = 0x4444,
		.cs = 0x33,
		.ss = 0x2b,
	};
	const struct frame_input input = {
		.registers = &registers,
		.signal_mask = 0x123456789abcdef0,
		.restorer = 0x5555,
		.state = vectors,
		.state_bytes = 576,
	};
	uint8_t frame[4096];
	uint64_t word;
	uint32_t magic;

	(void)state;
	fill_vectors(3, 3);
	frame_write(&input, PLACE, frame);
	memcpy(&word, frame, sizeof word);
	assert_int_equal(word, 0x5555);
	/* Behind the flags, the link and the stack: struct sigcontext. */
	const uint8_t *context = frame + 8 + 40;

	memcpy(&word, context + REG_RIP * 8, sizeof word);
	assert_int_equal(word, 0x1111);
	memcpy(&word, context + REG_R12 * 8, sizeof word);
	assert_int_equal(word, 0x4444);
	memcpy(&word, context + REG_CSGSFS * 8, sizeof word);
	assert_int_equal(word, 0x33 | 0x2bULL << 48);
	memcpy(&word, context + 256, sizeof word);
	assert_int_equal(word, input.signal_mask);
	memcpy(&word, context + 184, sizeof word);
	const uint8_t *there = frame + (word - PLACE);

	assert_int_equal(word % 64, 0);
	assert_memory_equal(there, vectors, 464);
	memcpy(&magic, there + 464, sizeof magic);
	assert_int_equal(magic, 0x46505853);
	memcpy(&magic, there + 576, sizeof magic);
	assert_int_equal(magic, 0x46505845);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_frame_is_below_the_red_zone_and_aligned),
		cmocka_unit_test(test_state_that_has_to_be_asked_for_is_refused),
		cmocka_unit_test(test_the_frame_has_what_rt_sigreturn_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
