#include "cmocka_all.h"

#include <locale.h>
#include <string.h>

#include "base/text.h"
#include "example.h"
#include "report/report.h"

static void assert_has(const struct text *text, const char *part)
{
	if (!strstr(text_string(text), part))
		fail_msg("\"%s\" is not in:\n%s", part, text_string(text));
}

/* 1,900 of 4,960 samples: 37.4 ±1.4 of 5.080 s, so twice the time for ±1. */
static void it_says_how_long_to_record_for_a_point(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	example_init(&made);
	report_info_text(made.profile, &(struct report_options){ .is_accuracy = true }, &text);
	assert_has(&text, "for ±1 point");
	assert_has(&text, "  37.4  ±1.4");
	assert_has(&text, "write\n");
	assert_has(&text, "  accounted  difference  samples  process");
	assert_null(strstr(text_string(&text), "[start-up]"));
	text_done(&text);
	made_done(&made);
}

static void of_a_trace_it_says_that_there_are_no_samples(void **state)
{
	struct made made;
	struct text text = { 0 };

	(void)state;
	made_init(&made);
	made_add_calls(&made, "main;f", 1000, 1);
	report_info_text(made.profile, &(struct report_options){ .is_accuracy = true }, &text);
	assert_has(&text, "A trace measures each call");
	text_done(&text);
	made_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_says_how_long_to_record_for_a_point),
		cmocka_unit_test(of_a_trace_it_says_that_there_are_no_samples),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
