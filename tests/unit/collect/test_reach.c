#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/agents/reach.h"

/* In our own root directory; other ones want rights, and have a live test. */
static const struct {
	const char *agent, *socket;
	const char *why_not; /* a part of it; NULL: nothing is in the way */
} cases[] = {
	{ "/proc/self/exe", "/proc/self/maps", NULL }, { "/", NULL, NULL },
	{ "/nowhere/at/all", "/", "TMPDIR" },          { "/", "/nowhere/at/all", "TMPDIR" },
	{ "/proc/self/exe/below", "/", "TMPDIR" }, /* no folder */
};

static void what_a_namespace_has_not_is_in_the_way(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *why_not = reach_why_not(
			getpid(), &(struct reach_paths){ cases[i].agent, cases[i].socket });

		if (cases[i].why_not == NULL)
			assert_null(why_not);
		else
			assert_non_null(strstr(why_not, cases[i].why_not));
	}
}

static void nothing_is_said_of_a_process_that_is_gone(void **state)
{
	const pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_null(reach_why_not(pid, &(struct reach_paths){ "/nowhere", "/nowhere" }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_namespace_has_not_is_in_the_way),
		cmocka_unit_test(nothing_is_said_of_a_process_that_is_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
