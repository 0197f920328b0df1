/* The cache of another process's pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pages.h"

static void a_page_is_fetched_once_until_it_is_forgotten(void **state)
{
	struct mem mem;
	struct pages *pages = pages_new(&mem);
	uint64_t word = 0;

	(void)state;
	pages_put_word(pages, PAGES_BEGIN + 8, 1);
	assert_int_equal(mem_read(&mem, &word, sizeof word, PAGES_BEGIN + 8), 0);
	pages_put_word(pages, PAGES_BEGIN + 8, 2);
	assert_int_equal(mem_read(&mem, &word, sizeof word, PAGES_BEGIN + 8), 0);
	assert_int_equal(word, 1);
	assert_int_equal(pages->fetches, 1);
	memory_forget(&mem);
	assert_int_equal(mem_read(&mem, &word, sizeof word, PAGES_BEGIN + 8), 0);
	assert_int_equal(word, 2);
	memory_done(&mem);
	free(pages);
}

static void what_cannot_be_written_is_kept(void **state)
{
	struct mem mem;
	struct pages *pages = pages_new(&mem);
	uint64_t word;

	(void)state;
	pages->are_lasting = true;
	assert_int_equal(mem_read(&mem, &word, sizeof word, PAGES_BEGIN), 0);
	memory_forget(&mem);
	assert_int_equal(mem_read(&mem, &word, sizeof word, PAGES_BEGIN), 0);
	assert_int_equal(pages->fetches, 1);
	memory_done(&mem);
	free(pages);
}

static void a_read_may_cross_pages_but_not_the_end(void **state)
{
	const uint64_t end = PAGES_BEGIN + PAGES_COUNT * MEMORY_PAGE;
	struct mem mem;
	struct pages *pages = pages_new(&mem);
	uint64_t word = 0;

	(void)state;
	pages_put_word(pages, PAGES_BEGIN + MEMORY_PAGE - 3, 0x1122334455667788);
	assert_int_equal(mem_read(&mem, &word, sizeof word, PAGES_BEGIN + MEMORY_PAGE - 3), 0);
	assert_int_equal(word, 0x1122334455667788);
	assert_true(mem_read(&mem, &word, sizeof word, end - 4) < 0);
	assert_true(mem_read(&mem, &word, sizeof word, NOWHERE) < 0);
	assert_true(mem_read(&mem, &word, sizeof word, UINT64_MAX - 3) < 0);
	memory_done(&mem);
	free(pages);
}

static void a_page_that_is_absent_is_asked_for_again_later(void **state)
{
	struct mem mem;
	struct pages *pages = pages_new(&mem);
	uint64_t word;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(mem_read(&mem, &word, sizeof word, NOWHERE) < 0);
	assert_int_equal(pages->fetches, 1);
	memory_forget(&mem);
	assert_true(mem_read(&mem, &word, sizeof word, NOWHERE) < 0);
	assert_int_equal(pages->fetches, 2);
	memory_done(&mem);
	free(pages);
}

static void a_copy_is_read_in_place_of_the_pages(void **state)
{
	const uint64_t copy[2] = { 7, 8 };
	struct mem mem;
	struct pages *pages = pages_new(&mem);
	uint64_t word;

	(void)state;
	memory_use_copy(&mem, PAGES_BEGIN + 64, copy, sizeof copy);
	assert_int_equal(mem_read(&mem, &word, sizeof word, PAGES_BEGIN + 72), 0);
	assert_int_equal(word, 8);
	assert_int_equal(mem_read(&mem, &word, sizeof word, PAGES_BEGIN + 80), 0);
	assert_int_equal(word, 0);
	memory_use_copy(&mem, 0, NULL, 0);
	assert_int_equal(mem_read(&mem, &word, sizeof word, PAGES_BEGIN + 72), 0);
	assert_int_equal(word, 0);
	memory_done(&mem);
	free(pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_is_fetched_once_until_it_is_forgotten),
		cmocka_unit_test(what_cannot_be_written_is_kept),
		cmocka_unit_test(a_read_may_cross_pages_but_not_the_end),
		cmocka_unit_test(a_page_that_is_absent_is_asked_for_again_later),
		cmocka_unit_test(a_copy_is_read_in_place_of_the_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
