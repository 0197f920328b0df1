/* Names that the kernel cut, made whole by titles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include "load/whole_name.h"

static struct intern strings;

static const char *kept(const char *string)
{
	return intern_get(&strings, intern_string(&strings, string), NULL);
}

static void test_a_title_says_the_whole(void **state)
{
	static const struct {
		const char *name, *title, *whole;
	} cases[] = {
		{ "gunicorn: worke", "gunicorn: worker [application]", "gunicorn: worker" },
		{ "a-program-with-", "a-program-with-a-long-name",
		  "a-program-with-a-long-name" },
		{ "exactly-fifteen", "exactly-fifteen --option", "exactly-fifteen" },
		/* Shorter names are whole. */
		{ "nginx", "nginx: worker process", NULL },
		/* A title of another text, none, and one that is cut itself. */
		{ "gunicorn: worke", "python3 -m gunicorn", NULL },
		{ "gunicorn: worke", NULL, NULL },
		{ "a-program-with-", "a-program-with-a-lo… file", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_ptr_equal(whole_name_of(&strings, kept(cases[i].name), cases[i].title),
				 kept(cases[i].whole));
}

static void test_others_have_it_where_titles_agree(void **state)
{
	struct whole_names names = { 0 };
	const char *cut = kept("gunicorn: worke"), *other = kept("a-program-with-");

	(void)state;
	whole_names_add(&names, &strings, cut, kept("gunicorn: worker"));
	whole_names_add(&names, &strings, cut, kept("gunicorn: worker"));
	whole_names_add(&names, &strings, other, kept("a-program-with-a-name"));
	whole_names_add(&names, &strings, other, kept("a-program-with-another"));
	assert_string_equal(whole_names_find(&names, &strings, cut), "gunicorn: worker");
	assert_ptr_equal(whole_names_find(&names, &strings, other), other);
	assert_string_equal(whole_names_find(&names, &strings, kept("postgres")), "postgres");
	whole_names_done(&names);
}

static int done(void **state)
{
	(void)state;
	intern_done(&strings);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_title_says_the_whole),
		cmocka_unit_test(test_others_have_it_where_titles_agree),
	};

	return cmocka_run_group_tests(tests, NULL, done);
}
