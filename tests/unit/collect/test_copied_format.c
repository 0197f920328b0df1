/* A sample with a copied stack, out of the kernel's record. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/events/copied_format.h"

#define WORDS 128

struct record {
	struct perf_event_header header;
	uint64_t words[WORDS];
	size_t count;
};

static void put(struct record *record, uint64_t word)
{
	record->words[record->count++] = word;
	record->header.size =
		(uint16_t)(sizeof record->header + record->count * sizeof *record->words);
}

/* Up to the registers; abi 0: it has none. */
static void begin(struct record *record, uint64_t chain, uint64_t abi)
{
	*record = (struct record){ .header.type = PERF_RECORD_SAMPLE };
	put(record, 77);              /* the event */
	put(record, 11 | 12LL << 32); /* process and thread */
	put(record, 5000);            /* time */
	put(record, 1000);            /* period */
	if (chain > 0) {
		put(record, chain);
		put(record, PERF_CONTEXT_KERNEL);
		for (uint64_t i = 1; i < chain; i++)
			put(record, 0xffffffff81000000 + i);
	}
	put(record, abi);
	for (uint64_t i = 0; abi != 0 && i < STACK_COPY_REGISTERS; i++)
		put(record, 100 + i);
}

static void put_stack(struct record *record, uint64_t words, uint64_t copied)
{
	put(record, words * 8);
	for (uint64_t i = 0; i < words; i++)
		put(record, 1000 + i);
	put(record, copied);
}

static void a_sample_has_its_thread_its_time_and_its_copy(void **state)
{
	struct copied_sample sample;
	struct record record;
	uint64_t word;

	(void)state;
	begin(&record, 0, PERF_SAMPLE_REGS_ABI_64);
	put_stack(&record, 4, 24);
	assert_int_equal(copied_record_time(&record.header), 5000);
	assert_true(copied_sample_parse(&record.header, false, &sample));
	assert_int_equal(sample.event, 77);
	assert_int_equal(sample.pid, 11);
	assert_int_equal(sample.tid, 12);
	assert_int_equal(sample.time_ns, 5000);
	assert_int_equal(sample.period_ns, 1000);
	assert_true(sample.has_copy);
	assert_int_equal(sample.copy.len, 24);
	memcpy(&word, sample.copy.stack + 8, sizeof word);
	assert_int_equal(word, 1001);
	assert_false(sample.copy.is_32_bit);
}

static void the_kernels_addresses_come_without_their_marks(void **state)
{
	struct copied_sample sample;
	struct record record;

	(void)state;
	begin(&record, 3, PERF_SAMPLE_REGS_ABI_32);
	put_stack(&record, 1, 8);
	assert_true(copied_sample_parse(&record.header, true, &sample));
	assert_int_equal(sample.kernel_count, 2);
	assert_int_equal(sample.kernel[0], 0xffffffff81000001);
	assert_true(sample.copy.is_32_bit);
}

static void a_thread_without_user_registers_has_no_copy(void **state)
{
	struct copied_sample sample;
	struct record record;

	(void)state;
	begin(&record, 2, PERF_SAMPLE_REGS_ABI_NONE);
	put(&record, 0);
	assert_true(copied_sample_parse(&record.header, true, &sample));
	assert_false(sample.has_copy);
	assert_int_equal(sample.kernel_count, 1);
}

static void what_is_cut_short_anywhere_is_refused(void **state)
{
	struct copied_sample sample;
	struct record record;

	(void)state;
	begin(&record, 2, PERF_SAMPLE_REGS_ABI_64);
	put_stack(&record, 4, 32);
	const uint16_t whole = record.header.size;

	for (uint16_t size = sizeof record.header; size < whole; size++) {
		record.header.size = size;
		assert_false(copied_sample_parse(&record.header, true, &sample));
	}
	assert_int_equal(copied_record_time(&(struct perf_event_header){
				 .type = PERF_RECORD_SAMPLE, .size = 8 }),
			 0);
}

static void more_copied_than_there_is_room_for_is_refused(void **state)
{
	struct copied_sample sample;
	struct record record;

	(void)state;
	begin(&record, 0, PERF_SAMPLE_REGS_ABI_64);
	put_stack(&record, 4, 33);
	assert_false(copied_sample_parse(&record.header, false, &sample));
	begin(&record, 0, PERF_SAMPLE_REGS_ABI_64);
	put(&record, UINT64_MAX);
	assert_false(copied_sample_parse(&record.header, false, &sample));
	/* A chain that claims more than the record has. */
	begin(&record, 1, PERF_SAMPLE_REGS_ABI_64);
	record.words[4] = UINT64_MAX;
	put_stack(&record, 4, 8);
	assert_false(copied_sample_parse(&record.header, true, &sample));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_has_its_thread_its_time_and_its_copy),
		cmocka_unit_test(the_kernels_addresses_come_without_their_marks),
		cmocka_unit_test(a_thread_without_user_registers_has_no_copy),
		cmocka_unit_test(what_is_cut_short_anywhere_is_refused),
		cmocka_unit_test(more_copied_than_there_is_room_for_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
