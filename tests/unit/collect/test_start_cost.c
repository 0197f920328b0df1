/* What the start of a process costs more: when it is measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include <errno.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "collect/costs/start_cost.h"

#define MS 1000000ULL

static uint64_t children_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) +
	       1000000ULL * (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
}

static void test_is_measured_where_it_matters(void **state)
{
	static const struct {
		const char *name;
		uint64_t forks, execs, cpu_ns;
		bool is_measured;
	} cases[] = {
		{ "one program", 0, 1, 10 * MS, false },
		{ "ten that are brief", 0, 10, 100 * MS, true },
		{ "ten that run for long", 0, 10, 100000 * MS, false },
		{ "a shell with subshells", 100, 1, 100 * MS, true },
		{ "a server with workers", 20, 1, 100 * MS, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const uint64_t before = children_ns();

		print_message("%s\n", cases[i].name);
		const struct start_costs costs =
			start_costs_measure(&(struct start_costs_terms){
				.agent_path = "",
				.forks = cases[i].forks,
				.execs = cases[i].execs,
				.cpu_ns = cases[i].cpu_ns,
			});

		assert_int_equal(children_ns() > before, cases[i].is_measured);
		if (!cases[i].is_measured)
			assert_int_equal(costs.exec_ns + costs.fork_ns, 0);
		if (cases[i].execs < 8)
			assert_int_equal(costs.exec_ns, 0);
		/* No child is left. */
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(errno, ECHILD);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_measured_where_it_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
