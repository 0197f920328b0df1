#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/agents/user_rights.h"

#define OTHER_USER  65534
#define OTHER_GROUP 12345

/* The same for owner, group and others: what is asked of is root's child, or has our user. */
static const struct {
	mode_t folder, file;
	bool is_forbidden;
} cases[] = {
	{ 0111, 0444, false }, { 0555, 0555, false }, { 0444, 0444, true },
	{ 0000, 0444, true },  { 0111, 0111, true },  { 0111, 0000, true },
};

static char folder[64], file[80];

static int make_files(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/fathom-rights-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(file, sizeof file, "%s/agent", folder);
	const int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? 1 : close(fd);
}

static int remove_files(void **state)
{
	(void)state;
	chmod(folder, 0700);
	unlink(file);
	return rmdir(folder);
}

/* A process that is not root's; it waits to be killed. */
static pid_t begin_process(void)
{
	const gid_t groups[] = { 1, OTHER_GROUP };
	int ready[2];
	char byte = 0;

	assert_int_equal(pipe(ready), 0);
	const pid_t pid = fork();

	if (pid == 0) {
		const bool is_root = geteuid() == 0;

		if (is_root && (setgroups(2, groups) != 0 || setgid(OTHER_USER) != 0 ||
				setuid(OTHER_USER) != 0))
			_exit(1);
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void modes_say_what_may_be_read(void **state)
{
	const pid_t pid = begin_process();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(chmod(folder, 0700), 0);
		assert_int_equal(chmod(file, cases[i].file), 0);
		assert_int_equal(chmod(folder, cases[i].folder), 0);
		assert_int_equal(user_rights_forbid_reading(pid, file), cases[i].is_forbidden);
	}
	end_process(pid);
}

static void each_group_counts(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("only root can give a file to another group\n");
		skip();
	}
	const pid_t pid = begin_process();

	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(chmod(file, 0640), 0);
	assert_true(user_rights_forbid_reading(pid, file));
	assert_int_equal(chown(file, 0, OTHER_GROUP), 0);
	assert_false(user_rights_forbid_reading(pid, file));
	end_process(pid);
}

static void nothing_is_said_of_what_cannot_be_seen(void **state)
{
	const pid_t pid = begin_process();

	(void)state;
	assert_false(user_rights_forbid_reading(pid, "/nowhere/at/all"));
	assert_false(user_rights_forbid_reading(pid, "relative"));
	end_process(pid);
	assert_int_equal(chmod(folder, 0), 0);
	assert_false(user_rights_forbid_reading(pid, file));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(modes_say_what_may_be_read, make_files,
						remove_files),
		cmocka_unit_test_setup_teardown(each_group_counts, make_files, remove_files),
		cmocka_unit_test_setup_teardown(nothing_is_said_of_what_cannot_be_seen,
						make_files, remove_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
