#include "cmocka_all.h"

#include "base/text.h"
#include "profile/label.h"
#include "profile/profile.h"

static const struct {
	const char *name, *title, *label;
} cases[] = {
	{ "cc1", NULL, "cc1" },
	{ "cc1", "", "cc1" },
	{ "cc1", "cc1 … part.c", "cc1 … part.c" },
	{ "nginx", "nginx: worker process", "nginx: worker process" },
	{ "app.py", "python3 ./app.py", "app.py (python3 ./app.py)" },
	{ "", "prog", "prog" },
	{ NULL, NULL, "process" },
};

static void the_name_stands_in_front_of_a_title_that_does_not_begin_with_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text text = { 0 };

		label_add_process(&text, &(struct process){ .name = cases[i].name,
							    .title = cases[i].title });
		assert_string_equal(text_string(&text), cases[i].label);
		text_done(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_name_stands_in_front_of_a_title_that_does_not_begin_with_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
