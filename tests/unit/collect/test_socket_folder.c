/* Where a recorder's socket lies, and what becomes of the folders of killed ones. */
#include "collect/system/socket_folder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collect/agents/handshake_server.h"

#define PATH_SIZE 256

static char base[32];

static const char *in_base(const char *name)
{
	static char path[PATH_SIZE];

	snprintf(path, sizeof path, "%s/%s", base, name);
	return path;
}

static const char *in_users(const char *name)
{
	char users[64];

	snprintf(users, sizeof users, "fathom-%u/%s", (unsigned int)geteuid(), name);
	return in_base(users);
}

static int make_base(void **state)
{
	(void)state;
	strcpy(base, "/tmp/fathom-unit-XXXXXX");
	unsetenv("XDG_RUNTIME_DIR");
	return mkdtemp(base) == NULL || setenv("TMPDIR", base, 1) < 0;
}

static int remove_base(void **state)
{
	char command[PATH_SIZE];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", base);
	return system(command);
}

static struct socket_folder made(void)
{
	struct socket_folder folder;
	struct error err;

	assert_int_equal(socket_folder_make(&folder, &err), 0);
	return folder;
}

static bool is_there(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static void put_file(const char *path)
{
	const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	return status.st_mode & 07777;
}

static void test_it_lies_where_only_the_user_makes_names(void **state)
{
	struct socket_folder folder = made();
	const mode_t wanted = geteuid() == 0 ? 0711 : 0700;

	(void)state;
	assert_int_equal(strncmp(folder.path, in_users(""), strlen(in_users(""))), 0);
	assert_int_equal(mode_of(in_users(".")), wanted);
	assert_int_equal(mode_of(folder.path), wanted);
	socket_folder_remove(&folder);
	assert_string_equal(folder.path, "");
	/* The user's stays: its name can be no other's. */
	assert_true(is_there(in_users(".")));
}

static void test_a_users_runtime_folder_comes_first(void **state)
{
	char runtime[PATH_SIZE];

	(void)state;
	if (geteuid() == 0) {
		print_message("root's folder is never in XDG_RUNTIME_DIR\n");
		skip();
	}
	strcpy(runtime, in_base("runtime"));
	assert_int_equal(mkdir(runtime, 0700), 0);
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	struct socket_folder folder = made();

	assert_int_equal(strncmp(folder.path, runtime, strlen(runtime)), 0);
	socket_folder_remove(&folder);
	/* One that others can enter is not taken. */
	assert_int_equal(chmod(runtime, 0750), 0);
	folder = made();
	assert_int_not_equal(strncmp(folder.path, runtime, strlen(runtime)), 0);
	socket_folder_remove(&folder);
	unsetenv("XDG_RUNTIME_DIR");
}

/* As a recorder that is killed leaves it; its name in the user's folder. */
static void leave_behind(const char *socket, char *out_name)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	const pid_t child = fork();

	if (child == 0) {
		struct socket_folder folder = made();
		char path[PATH_SIZE];

		snprintf(path, sizeof path, "%s%s", folder.path, socket);
		put_file(path);
		snprintf(path, sizeof path, "%s%s", folder.path, SOCKET_FOLDER_AGENT_LINK);
		assert_int_equal(symlink("/nowhere", path), 0);
		_exit(write(ends[1], strrchr(folder.path, '/') + 1, 7) == 7 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(read(ends[0], out_name, 7), 7);
	close(ends[0]);
	close(ends[1]);
}

static void test_what_a_killed_recorder_left_is_removed_by_the_next(void **state)
{
	const char *const sockets[] = { HANDSHAKE_SOCKET, HANDSHAKE_TRACE_SOCKET };
	char name[7];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		leave_behind(sockets[i], name);
		assert_true(is_there(in_users(name)));
		struct socket_folder folder = made();

		assert_false(is_there(in_users(name)));
		assert_true(is_there(folder.path));
		socket_folder_remove(&folder);
	}
}

static void test_that_of_a_living_one_stays(void **state)
{
	struct socket_folder living = made();
	char path[PATH_SIZE];

	(void)state;
	snprintf(path, sizeof path, "%s%s", living.path, HANDSHAKE_SOCKET);
	put_file(path);
	struct socket_folder folder = made();

	assert_true(is_there(path));
	unlink(path);
	socket_folder_remove(&folder);
	socket_folder_remove(&living);
}

static void test_an_empty_one_may_be_about_to_be_locked(void **state)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct socket_folder folder = made();

	(void)state;
	socket_folder_remove(&folder);
	/* As a recorder that is making its folder has it. */
	const int other = open(in_users("."), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(flock(other, LOCK_SH), 0);
	assert_int_equal(mkdir(in_users("abcdef"), 0700), 0);
	folder = made();
	assert_true(is_there(in_users("abcdef")));
	socket_folder_remove(&folder);
	assert_int_equal(utimensat(AT_FDCWD, in_users("abcdef"), long_ago, 0), 0);
	folder = made();
	assert_false(is_there(in_users("abcdef")));
	socket_folder_remove(&folder);
	/* Where none is, what is not locked is left behind. */
	close(other);
	assert_int_equal(mkdir(in_users("abcdef"), 0700), 0);
	folder = made();
	assert_false(is_there(in_users("abcdef")));
	socket_folder_remove(&folder);
}

static void test_no_link_is_followed(void **state)
{
	struct socket_folder folder = made();

	(void)state;
	socket_folder_remove(&folder);
	assert_int_equal(mkdir(in_base("others"), 0700), 0);
	put_file(in_base("others" HANDSHAKE_SOCKET));
	assert_int_equal(symlink("../others", in_users("abcdef")), 0);
	folder = made();
	assert_true(is_there(in_base("others" HANDSHAKE_SOCKET)));
	socket_folder_remove(&folder);
}

/* Then there is one that is made at random, and agents authenticate the recorder all the same. */
static void assert_not_in_users_folder(void)
{
	struct socket_folder folder = made();

	assert_int_equal(strncmp(folder.path, base, strlen(base)), 0);
	assert_int_not_equal(strncmp(folder.path, in_users(""), strlen(in_users(""))), 0);
	assert_int_equal(mode_of(folder.path) & 0022, 0);
	socket_folder_remove(&folder);
}

static void test_a_link_in_its_place_is_not_used(void **state)
{
	char users[PATH_SIZE];

	(void)state;
	snprintf(users, sizeof users, "%s/fathom-%u", base, (unsigned int)geteuid());
	assert_int_equal(mkdir(in_base("others"), 0700), 0);
	assert_int_equal(symlink("others", users), 0);
	assert_not_in_users_folder();
	assert_int_equal(rmdir(in_base("others")), 0);
}

static void test_one_that_others_may_write_to_is_not_used(void **state)
{
	struct socket_folder folder = made();

	(void)state;
	socket_folder_remove(&folder);
	assert_int_equal(chmod(in_users("."), 0777), 0);
	assert_not_in_users_folder();
}

static void test_which_users_may_be_heard(void **state)
{
	static const struct {
		uid_t uid, own;
		bool may, is_foreign;
	} cases[] = {
		{ 1000, 1000, true, false }, { 0, 1000, true, false },
		{ 1001, 1000, false, true }, { 0, 0, true, false },
		{ 65534, 0, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		bool is_foreign;

		assert_int_equal(
			handshake_server_may_hear(cases[i].uid, cases[i].own, &is_foreign),
			cases[i].may);
		assert_int_equal(is_foreign, cases[i].is_foreign);
	}
}

#define WITH_BASE(test) cmocka_unit_test_setup_teardown(test, make_base, remove_base)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BASE(test_it_lies_where_only_the_user_makes_names),
		WITH_BASE(test_a_users_runtime_folder_comes_first),
		WITH_BASE(test_what_a_killed_recorder_left_is_removed_by_the_next),
		WITH_BASE(test_that_of_a_living_one_stays),
		WITH_BASE(test_an_empty_one_may_be_about_to_be_locked),
		WITH_BASE(test_no_link_is_followed),
		WITH_BASE(test_a_link_in_its_place_is_not_used),
		WITH_BASE(test_one_that_others_may_write_to_is_not_used),
		cmocka_unit_test(test_which_users_may_be_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
