#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "expect.h"

#define HEAD(name)                                                               \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n" \
	"\"name\":\"" name "\",\n"                                               \
	"\"exporter\":\"fathom@" FATHOM_VERSION "\",\n"                          \
	"\"shared\":{\"frames\":[\n"                                             \
	"{\"name\":\"[unknown]\"}"

static void an_empty_profile_has_one_thread_without_samples(void **state)
{
	(void)state;
	assert_export(
		"empty", "speedscope",
		HEAD("fathom") "\n]},\n"
			       "\"profiles\":[\n"
			       "{\"type\":\"sampled\",\"name\":\"no samples\","
			       "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":0,\n"
			       "\"samples\":[],\n"
			       "\"weights\":[]}\n"
			       "],\n"
			       "\"activeProfileIndex\":0}\n");
}

static void each_thread_is_a_profile_with_its_stacks_outermost_first(void **state)
{
	(void)state;
	assert_export(
		"mixed", "speedscope",
		HEAD("./prog -n 3") ",\n"
				    "{\"name\":\"main\",\"file\":\"src/main.c\",\"line\":5},\n"
				    "{\"name\":\"sort\",\"file\":\"src/sort.c\",\"line\":20},\n"
				    "{\"name\":\"swap\",\"file\":\"src/swap.h\",\"line\":3},\n"
				    "{\"name\":\"libz.so.1+0x2f10\",\"file\":\"/usr/lib/"
				    "libz.so.1\"},\n"
				    "{\"name\":\"Job.run\",\"file\":\"/srv/"
				    "job.py\",\"line\":12},\n"
				    "{\"name\":\"each\",\"file\":\"/srv/job.rb\"},\n"
				    "{\"name\":\"vfs_read\"},\n"
				    "{\"name\":\"[start-up]\"}\n"
				    "]},\n"
				    "\"profiles\":[\n"
				    "{\"type\":\"sampled\",\"name\":\"prog (100) / main "
				    "(100)\","
				    "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":"
				    "8000000,\n"
				    "\"samples\":[[1,2],[1,2,3],[1,4],[1,5,6],[1,7],[8]],\n"
				    "\"weights\":[2000000,1000000,1000000,1000000,1000000,"
				    "2000000]},\n"
				    "{\"type\":\"sampled\",\"name\":\"prog (100) / worker "
				    "(101)\","
				    "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":"
				    "4000000,\n"
				    "\"samples\":[[1,2],[1,2,3]],\n"
				    "\"weights\":[1000000,3000000]}\n"
				    "],\n"
				    "\"activeProfileIndex\":0}\n");
}

static void strings_are_escaped(void **state)
{
	CLEANUP(text_done) struct text text = export_of("hostile", "speedscope");

	(void)state;
	assert_non_null(strstr(text.data, "{\"name\":\"quote\\\"back\\\\slash\","));
	assert_non_null(strstr(text.data, "{\"name\":\"new\\u000aline\","));
	assert_non_null(strstr(text.data, "{\"name\":\"bad\\\\xff utf8\","));
	assert_non_null(strstr(text.data, "{\"name\":\"\\u2028separator\","));
	assert_non_null(strstr(text.data, "{\"name\":\"\xe6\x97\xa5\xe6\x9c\xac\","));
}

static void the_last_frame_is_the_state_of_the_wall_clock(void **state)
{
	CLEANUP(text_done) struct text text = export_of("waits", "speedscope");

	(void)state;
	/* Functions 1 to 4: run, futex(GIL), read(…), clock_nanosleep; the states come behind. */
	assert_non_null(strstr(text.data, "{\"name\":\"clock_nanosleep\"},\n"
					  "{\"name\":\"[running]\"},\n"
					  "{\"name\":\"[runnable]\"},\n"));
	assert_non_null(strstr(text.data, "\"samples\":[[1,3,12],[1,2,7],[1,5],[1,6]],\n"
					  "\"weights\":[6000000,3000000,2000000,1000000]"));
	assert_non_null(strstr(text.data, "\"samples\":[[4,13]],\n\"weights\":[13000000]"));
	/* The second thread lived longer, but is idle. */
	assert_non_null(strstr(text.data, "\"activeProfileIndex\":0}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_profile_has_one_thread_without_samples),
		cmocka_unit_test(each_thread_is_a_profile_with_its_stacks_outermost_first),
		cmocka_unit_test(the_last_frame_is_the_state_of_the_wall_clock),
		cmocka_unit_test(strings_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
