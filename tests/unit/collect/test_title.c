#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/processes/title.h"

#define X20             "xxxxxxxxxxxxxxxxxxxx"
#define X80             X20 X20 X20 X20
#define ARGUMENTS(text) text, sizeof(text)

static const struct {
	const char *bytes;
	size_t len;
	const char *title;
} cases[] = {
	{ ARGUMENTS(""), "" },
	{ ARGUMENTS("\0\0 \0"), "" },
	{ ARGUMENTS("sleep\0"
		    "5"),
	  "sleep 5" },
	{ ARGUMENTS("/usr/bin/sleep\0"
		    "5\0"),
	  "sleep 5" },
	{ ARGUMENTS("./a/"), "./a/" },
	/* What setproctitle leaves: one string, and what was there before it zeroed or blank. */
	{ ARGUMENTS("nginx: master process /usr/sbin/nginx -g off\0\0\0\0"),
	  "nginx: master process /usr/sbin/nginx -g off" },
	{ ARGUMENTS("postgres: alice db [local] SELECT      "),
	  "postgres: alice db [local] SELECT" },
	/* Nothing of a terminal's reaches the recording. */
	{ ARGUMENTS("sh\0-c\0first\n\t second\x1b[2J\x7f"), "sh -c first second [2J" },
	{ ARGUMENTS("\x1b\x01\0x"), "x" },
	{ ARGUMENTS("/usr/lib/gcc/12/cc1\0-quiet\0-I\0include/" X80
		    "\0-imultiarch\0x86_64-linux-gnu\0src/part.c\0-dumpbase\0src/part.c\0-O2"),
	  "cc1 … src/part.c …" },
	/* Without an operand: what looks like a file; else the options. */
	{ ARGUMENTS("gcc\0-c\0part.c\0-I" X80 X20 X20 "\0-o\0part.o"),
	  "gcc … part.c … part.o" },
	{ ARGUMENTS("prog\0--one\0two\0--" X80 X80), "prog --one two --" X20 X20 "xxx…" },
	/* What is long is cut: of a path the end is left. */
	{ ARGUMENTS("prog\0/" X80 "/part.c\0" X80),
	  "prog …" X20 "xxxxxxxxxxxxxxxxxx/part.c " X20 X20 "xxxxx…" },
	{ ARGUMENTS(X80 X80), X80 X20 "xxxxxxxxxxxxxxxxx…" },
};

static void titles_are_the_arguments_that_say_most(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char title[TITLE_SIZE];

		title_make(cases[i].bytes, cases[i].len, title);
		assert_string_equal(title, cases[i].title);
	}
}

/* Every byte in turn, in arguments of every length: within the bounds, and one line. */
static void no_arguments_leave_the_bounds(void **state)
{
	enum { LEN = 20000 };
	char *bytes = malloc(LEN);
	uint32_t random = 1;

	(void)state;
	assert_non_null(bytes);
	for (int spread = 1; spread < 400; spread += 7) {
		char title[TITLE_SIZE + 1];

		for (size_t i = 0; i < LEN; i++) {
			random = random * 1664525 + 1013904223;
			bytes[i] = (random >> 16) % (uint32_t)spread == 0
					   ? 0
					   : (char)(random >> 24);
		}
		memset(title, 0x55, sizeof title);
		title_make(bytes, LEN, title);
		assert_true(memchr(title, 0, TITLE_SIZE) != NULL);
		assert_int_equal(title[TITLE_SIZE], 0x55);
		for (const char *at = title; *at != '\0'; at++)
			assert_true((unsigned char)*at >= ' ' && *at != 0x7f);
	}
	free(bytes);
}

static void a_character_is_never_cut(void **state)
{
	char bytes[300], title[TITLE_SIZE];

	(void)state;
	for (size_t shift = 0; shift < 2; shift++) {
		memset(bytes, 'a', shift);
		for (size_t i = shift; i + 1 < sizeof bytes; i += 2)
			memcpy(bytes + i, "ä", 2);
		title_make(bytes, sizeof bytes - 2, title);
		const size_t len = strlen(title);

		assert_true(len > TITLE_MAX - 4);
		assert_string_equal(title + len - 3, "…");
		assert_memory_equal(title + len - 5, "ä", 2);
	}
}

/* Process 1 is there, whatever it is called. */
static void a_process_is_read_again_when_it_was_busy_and_ever_less_often(void **state)
{
	struct title title = { 0 };
	uint64_t now_ns = 1000, looks = 0;

	(void)state;
	assert_false(title_look(&title, 1, 0, now_ns)); /* it has done nothing */
	assert_true(title_look(&title, 1, 1, now_ns));
	assert_non_null(title.text);
	assert_false(title_look_first(&title, 1, now_ns));
	for (uint64_t mark = 2; mark < 10000; mark++) {
		const uint64_t due_ns = title.due_ns;

		now_ns += 1000000;
		title_look(&title, 1, mark, now_ns);
		looks += title.due_ns != due_ns;
	}
	assert_in_range(looks, 5, 12); /* in ten seconds */
	free(title.text);
}

static void a_process_is_read_once_more_when_it_is_busy_no_longer(void **state)
{
	struct title title = { 0 };
	const uint64_t later_ns = 10000000000;

	(void)state;
	assert_false(title_is_due(&title, 0, later_ns));
	title_look(&title, 1, 5, 1000);
	assert_false(title_is_due(&title, 5, 2000));
	assert_true(title_is_due(&title, 5, later_ns));
	title_look(&title, 1, 5, later_ns);
	assert_false(title_is_due(&title, 5, 2 * later_ns));
	assert_true(title_is_due(&title, 6, 2 * later_ns));
	free(title.text);
}

static void what_was_read_behind_an_exec_is_the_next_programs(void **state)
{
	struct title title = { .text = strdup("one"), .read_ns = 100 }, next;

	(void)state;
	title_take_exec(&title, 101, &next);
	assert_string_equal(title.text, "one");
	assert_null(next.text);
	title_take_exec(&title, 99, &next);
	assert_null(title.text);
	assert_string_equal(next.text, "one");
	free(next.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(titles_are_the_arguments_that_say_most),
		cmocka_unit_test(no_arguments_leave_the_bounds),
		cmocka_unit_test(a_character_is_never_cut),
		cmocka_unit_test(a_process_is_read_again_when_it_was_busy_and_ever_less_often),
		cmocka_unit_test(what_was_read_behind_an_exec_is_the_next_programs),
		cmocka_unit_test(a_process_is_read_once_more_when_it_is_busy_no_longer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
