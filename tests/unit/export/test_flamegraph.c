#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "expect.h"

#define BEGIN "<script type=\"application/json\" id=\"profile\">"

/* What stands between the page's head and tail. */
static char *data_of(const char *profile)
{
	CLEANUP(text_done) struct text text = export_of(profile, "flamegraph");
	const char *begin = strstr(text.data, BEGIN);

	assert_non_null(begin);
	begin += strlen(BEGIN);
	return xstrndup(begin, (size_t)(strstr(begin, "</script>") - begin));
}

static void the_page_has_its_style_and_script_inside(void **state)
{
	CLEANUP(text_done) struct text text = export_of("one frame", "flamegraph");

	(void)state;
	assert_memory_equal(text.data, "<!DOCTYPE html>", 15);
	assert_non_null(strstr(text.data, "default-src 'none'"));
	assert_non_null(strstr(text.data, "getElementById(\"profile\")"));
	assert_null(strstr(text.data, "@STYLE@"));
	assert_null(strstr(text.data, "@SCRIPT@"));
	assert_null(strstr(text.data, "@POLICY@"));
	assert_null(strstr(text.data, " src="));
	assert_string_equal(text.data + text.len - 8, "</html>\n");
}

static void nodes_stand_in_preorder_the_heaviest_first(void **state)
{
	CLEANUP(freep) char *data = data_of("mixed");

	(void)state;
	/* root; main: sort (swap), libz, Job.run (each), vfs_read; [start-up] */
	assert_non_null(strstr(data, "\"depth\":[0,1,2,3,2,2,3,2,1]"));
	/* By how much each box's time may be off: of samples, never nothing. */
	const char *off = strstr(data, "\"off\":[0,");

	assert_non_null(off);
	assert_true(strtoull(off + strlen("\"off\":[0,"), NULL, 10) > 0);
	assert_non_null(strstr(data, "\"function\":[0,1,2,3,4,5,6,7,8]"));
	assert_non_null(strstr(data, "\"inlined\":[3]"));
}

static void weights_are_kept_by_thread(void **state)
{
	CLEANUP(freep) char *data = data_of("mixed");

	(void)state;
	assert_non_null(strstr(data, "\"thread\":[1,1,1,1,1,1,2,2]"));
	assert_non_null(strstr(data, "\"node\":[2,3,4,6,7,8,2,3]"));
	assert_non_null(strstr(data, "\"count\":[2,1,1,1,1,0,1,3]"));
}

static void a_trace_has_calls_in_place_of_samples(void **state)
{
	CLEANUP(freep) char *data = data_of("trace");

	(void)state;
	assert_non_null(strstr(data, "\"counted\":\"calls\""));
	assert_non_null(strstr(data, "\"unexplained_ns\":null"));
	assert_non_null(strstr(data, "\"count\":[1,1,2,4,4,2,6,6,0,3,5000000000]"));
}

static void an_empty_profile_is_a_root_alone(void **state)
{
	CLEANUP(freep) char *data = data_of("empty");

	(void)state;
	assert_non_null(strstr(data, "\"depth\":[0],"));
	assert_non_null(strstr(data, "\"rows\":{\"thread\":[],"));
}

/* Inside a script element only "</script" and "<!--" mean something: no "<" at all is safe. */
static void no_name_can_end_the_data(void **state)
{
	CLEANUP(freep) char *data = data_of("hostile");

	(void)state;
	assert_null(strchr(data, '<'));
	assert_null(strchr(data, '>'));
	assert_non_null(strstr(data, "\"__proto__\""));
	assert_non_null(strstr(data, "\\u003c/script\\u003e\\u003cimg src=x onerror=alert(1)"));
}

static void rows_of_the_wall_clock_have_states(void **state)
{
	CLEANUP(freep) char *data = data_of("waits"), *other = data_of("mixed");

	(void)state;
	assert_non_null(strstr(data, "\"states\":[\"running\",\"runnable\",\"gil\","));
	assert_non_null(strstr(data, "\"state\":[0,1,7,2,8]}"));
	assert_null(strstr(other, "\"states\""));
	assert_null(strstr(other, "\"state\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_has_its_style_and_script_inside),
		cmocka_unit_test(nodes_stand_in_preorder_the_heaviest_first),
		cmocka_unit_test(weights_are_kept_by_thread),
		cmocka_unit_test(a_trace_has_calls_in_place_of_samples),
		cmocka_unit_test(an_empty_profile_is_a_root_alone),
		cmocka_unit_test(rows_of_the_wall_clock_have_states),
		cmocka_unit_test(no_name_can_end_the_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
