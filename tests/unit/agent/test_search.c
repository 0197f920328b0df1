/*
 * Which files are tried for a program without a slash in its name: as libc's execvp() does.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/exec/search.h"

#define MOST_TRIES 8

/* What a file's exec answers: the last row is for all others. */
struct answer {
	const char *path;
	int rc;
};

struct tries {
	const struct answer *answers;
	char paths[MOST_TRIES][PATH_MAX + NAME_MAX + 2];
	size_t count;
};

static int try_file(void *context, const char *path)
{
	struct tries *tries = context;
	const struct answer *answer = tries->answers;

	assert_true(tries->count < MOST_TRIES);
	strcpy(tries->paths[tries->count++], path);
	while (answer->path != NULL && strcmp(answer->path, path) != 0)
		answer++;
	return answer->rc;
}

static const struct answer nowhere[] = { { NULL, -ENOENT } };
static const struct answer in_b[] = { { "/b/ls", 7 }, { NULL, -ENOENT } };
static const struct answer denied_in_a[] = { { "/a/ls", -EACCES }, { NULL, -ENOENT } };
static const struct answer broken_in_a[] = { { "/a/ls", -ENOEXEC },
					     { "/b/ls", 7 },
					     { NULL, -ENOENT } };
static const struct answer here[] = { { "ls", 7 }, { NULL, -ENOTDIR } };

static const struct {
	const char *folders, *file;
	const struct answer *answers;
	int rc;
	const char *tried[MOST_TRIES];
} cases[] = {
	{ "/a:/b:/c", "ls", in_b, 7, { "/a/ls", "/b/ls" } },
	{ "/a:/b", "ls", nowhere, -ENOENT, { "/a/ls", "/b/ls" } },
	/* One that was denied is the answer, if no other is found. */
	{ "/a:/b", "ls", denied_in_a, -EACCES, { "/a/ls", "/b/ls" } },
	/* Another failure ends the search. */
	{ "/a:/b", "ls", broken_in_a, -ENOEXEC, { "/a/ls" } },
	/* An empty folder is the current one, wherever it stands. */
	{ ":/b", "ls", here, 7, { "ls" } },
	{ "/b:", "ls", here, 7, { "/b/ls", "ls" } },
	{ "", "ls", here, 7, { "ls" } },
	{ NULL, "ls", nowhere, -ENOENT, { "/bin/ls", "/usr/bin/ls" } },
	/* A slash is a path, an empty name none. */
	{ "/a:/b", "./ls", nowhere, -ENOENT, { "./ls" } },
	{ "/a:/b", "", nowhere, -ENOENT, { NULL } },
};

static void the_folders_of_path_are_tried_in_turn(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tries tries = { .answers = cases[i].answers };

		if (cases[i].folders != NULL)
			setenv("PATH", cases[i].folders, 1);
		else
			unsetenv("PATH");
		errno = 0;
		assert_int_equal(search_path(cases[i].file, try_file, &tries), cases[i].rc);
		for (size_t j = 0; j < tries.count; j++)
			assert_string_equal(tries.paths[j], cases[i].tried[j]);
		assert_null(cases[i].tried[tries.count]);
	}
}

static void what_is_too_long_is_passed_over(void **state)
{
	static char folders[2 * PATH_MAX], name[NAME_MAX + 2];
	struct tries tries = { .answers = in_b };

	(void)state;
	memset(folders, 'x', PATH_MAX);
	strcpy(folders + PATH_MAX, ":/b");
	setenv("PATH", folders, 1);
	assert_int_equal(search_path("ls", try_file, &tries), 7);
	assert_int_equal(tries.count, 1);
	memset(name, 'n', NAME_MAX + 1);
	assert_int_equal(search_path(name, try_file, &tries), -ENAMETOOLONG);
	/* The longest folder and the longest name have room. */
	memset(name, '\0', sizeof name);
	memset(name, 'n', NAME_MAX);
	folders[PATH_MAX - 1] = '\0';
	tries.count = 0;
	setenv("PATH", folders, 1);
	assert_int_equal(search_path(name, try_file, &tries), -ENOENT);
	assert_int_equal(strlen(tries.paths[0]), PATH_MAX + NAME_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_folders_of_path_are_tried_in_turn),
		cmocka_unit_test(what_is_too_long_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
