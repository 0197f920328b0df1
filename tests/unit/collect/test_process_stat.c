#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/system/process_stat.h"

#define BEFORE "Name:\tTracerPid:\\nUid:\t1\nUmask:\t0022\nState:\tS (sleeping)\nPid:\t7\n"

static const struct {
	const char *text;
	bool is_known, has_all_groups;
	pid_t debugger;
	uid_t user;
	gid_t group;
} cases[] = {
	{ BEFORE "TracerPid:\t0\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t\nNStgid:\t7\n",
	  true, true, 0, 2, 6 },
	{ BEFORE "TracerPid:\t42\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t1 2 \n", true,
	  true, 42, 0, 0 },
	/* Cut short. */
	{ BEFORE "TracerPid:\t42\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t1 2", true,
	  false, 42, 0, 0 },
	{ BEFORE "TracerPid:\t42\nUid:\t0\t0\t0\t0\n", false, false, 0, 0, 0 },
	{ BEFORE "TracerPid:\t42\nUid:\t0\nGid:\t0\t0\t0\t0\nGroups:\t1\n", false, true, 0, 0,
	  0 },
	{ "", false, false, 0, 0, 0 },
};

static void a_status_has_the_debugger_and_effective_ids(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct process_status status;

		assert_int_equal(process_status_parse(cases[i].text, &status),
				 cases[i].is_known);
		assert_int_equal(status.has_all_groups, cases[i].has_all_groups);
		if (!cases[i].is_known)
			continue;
		assert_int_equal(status.debugger, cases[i].debugger);
		assert_int_equal(status.user, cases[i].user);
		assert_int_equal(status.group, cases[i].group);
	}
}

static void groups_are_whole_numbers(void **state)
{
	static const struct process_status status = { .group = 5, .groups = "\t1 20 65534 " };

	(void)state;
	assert_true(process_status_has_group(&status, 5));
	assert_true(process_status_has_group(&status, 1));
	assert_true(process_status_has_group(&status, 20));
	assert_true(process_status_has_group(&status, 65534));
	assert_false(process_status_has_group(&status, 2));
	assert_false(process_status_has_group(&status, 0));
}

static void more_groups_than_are_kept_are_known_to_be_more(void **state)
{
	struct process_status status;
	char text[2 * sizeof status.groups];
	int len =
		snprintf(text, sizeof text,
			 BEFORE "TracerPid:\t0\nUid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\nGroups:\t");

	(void)state;
	for (size_t i = 0; i < sizeof status.groups / 2; i++)
		len += snprintf(text + len, sizeof text - (size_t)len, "1 ");
	snprintf(text + len, sizeof text - (size_t)len, "\n");
	assert_true(process_status_parse(text, &status));
	assert_false(status.has_all_groups);
}

static void our_own_files_are_read(void **state)
{
	struct process_stat stat;
	struct process_status status;

	(void)state;
	assert_true(process_stat_read(getpid(), &stat));
	assert_int_equal(stat.parent, getppid());
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.threads, 1);
	assert_true(process_status_read(getpid(), &status));
	assert_int_equal(status.user, geteuid());
	assert_int_equal(status.group, getegid());
}

static void an_ended_process_has_its_exit_code_until_it_is_waited_for(void **state)
{
	struct process_stat stat;
	struct process_status status;
	siginfo_t about;
	const pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(3);
	assert_int_equal(waitid(P_PID, (id_t)pid, &about, WEXITED | WNOWAIT), 0);
	assert_true(process_stat_read(pid, &stat));
	assert_int_equal(stat.state, 'Z');
	assert_true(WIFEXITED(stat.exit_code));
	assert_int_equal(WEXITSTATUS(stat.exit_code), 3);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(process_stat_read(pid, &stat));
	assert_false(process_status_read(pid, &status));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_has_the_debugger_and_effective_ids),
		cmocka_unit_test(groups_are_whole_numbers),
		cmocka_unit_test(more_groups_than_are_kept_are_known_to_be_more),
		cmocka_unit_test(our_own_files_are_read),
		cmocka_unit_test(an_ended_process_has_its_exit_code_until_it_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
