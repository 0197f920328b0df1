/* The two hidden entries of the environment: taken out of it, and what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "agent/core/permits.h"
#include "agent/core/own_ring.h"
#include "agent/core/own_process.h"
#include "agent/core/own_handshake.h"
#include "agent/core/environment.c"

#define RECORDER "FATHOM_RECORDER=default:/lib/agent.so:/run/agents"
#define PRELOAD  "LD_PRELOAD=/lib/agent.so"
#define ENTRIES  8

struct own_ring own_ring;
struct own_process own_process;
struct permits permits;
struct own_handshake own_handshake;
static const char *moved_end;

void environment_end_move(const char *end, const char *new_end)
{
	(void)end;
	moved_end = new_end;
}

/* One piece of memory, as the kernel makes it, and the array that the constructor is given. */
static struct {
	char text[4096];
	char *entries[ENTRIES + 3];
} initial;

static char **with_entries(const char *const *entries)
{
	char *at = initial.text;
	size_t count = 0;

	memset(&environment, 0, sizeof environment);
	memset(&initial, 0, sizeof initial);
	moved_end = NULL;
	for (; entries[count] != NULL; count++) {
		initial.entries[count] = at;
		at = stpcpy(at, entries[count]) + 1;
	}
	return initial.entries;
}

static void assert_entries(char *const *entries, const char *const *expected)
{
	for (; *expected != NULL; expected++)
		assert_string_equal(*entries++, *expected);
	assert_null(*entries);
}

static void test_both_go_and_the_others_keep_their_order(void **state)
{
	char **entries = with_entries(
		(const char *const[]){ "A=1", RECORDER, "B=2", PRELOAD, "C=3", NULL });

	(void)state;
	environment_take(entries);
	assert_entries(entries, (const char *const[]){ "A=1", "B=2", "C=3", NULL });
	/* Readers of the auxiliary vector pass over what became free. */
	assert_int_equal((uintptr_t)entries[4], AT_IGNORE);
	assert_string_equal(environment_socket(), "/run/agents");
	assert_string_equal(environment_agent_path(), "/lib/agent.so");
	assert_int_equal(environment_delay_ns(), 0);
	assert_false(environment_inherits_ignored_trap());
	assert_null(moved_end);
}

static void test_nothing_of_them_is_left_in_memory(void **state)
{
	char **entries = with_entries((const char *const[]){ "A=1", RECORDER, PRELOAD, NULL });
	const char *recorder = entries[1];

	(void)state;
	environment_take(entries);
	for (size_t i = 0; i < sizeof initial.text; i++)
		assert_false(strncmp(initial.text + i, "/lib", 4) == 0);
	/* Where they are last the environment ends before them. */
	assert_ptr_equal(moved_end, recorder);
}

static void test_one_alone_is_the_programs(void **state)
{
	static const char *const alone[] = { RECORDER, PRELOAD };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const expected[] = { "A=1", alone[i], NULL };
		char **entries = with_entries(expected);

		environment_take(entries);
		assert_entries(entries, expected);
		assert_null(environment_socket());
		assert_false(environment_may_enter());
	}
}

static void test_the_mark_says_when_to_make_the_handshake(void **state)
{
	(void)state;
	environment_take(with_entries((const char *const[]){
		"FATHOM_RECORDER=ignored+1000003:/lib/agent.so:/run/agents", PRELOAD, NULL }));
	assert_int_equal(environment_delay_ns(), 1000003);
	assert_true(environment_inherits_ignored_trap());
	assert_string_equal(environment_socket(), "/run/agents");
}

static void test_what_is_no_entry_of_ours_starts_no_recorder(void **state)
{
	static const char *const values[] = {
		"FATHOM_RECORDER=",
		"FATHOM_RECORDER=default",
		"FATHOM_RECORDER=defaults:/lib/agent.so:/run/agents",
		"FATHOM_RECORDER=default:/lib/agent.so",
		"FATHOM_RECORDER=default+:x",
		"FATHOM_RECORDER=other:/lib/agent.so:/run/agents",
	};

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char **entries =
			with_entries((const char *const[]){ values[i], PRELOAD, NULL });

		environment_take(entries);
		assert_null(entries[0]);
		assert_null(environment_socket());
	}
}

static void test_paths_that_are_too_long_start_no_recorder(void **state)
{
	static char long_socket[200], long_path[PATH_MAX + 64];

	(void)state;
	memset(long_socket, 'x', sizeof long_socket - 1);
	memcpy(long_socket, "FATHOM_RECORDER=default:/a:", 27);
	environment_take(with_entries((const char *const[]){ long_socket, PRELOAD, NULL }));
	assert_null(environment_socket());
	/* More than the memory of a test that is shared by others: an array of its own. */
	memset(long_path, 'x', sizeof long_path - 1);
	memcpy(long_path, "FATHOM_RECORDER=default:", 24);
	memcpy(long_path + sizeof long_path - 4, ":/s", 4);
	char preload[] = PRELOAD;
	char *entries[] = { long_path, preload, NULL, NULL, NULL };

	memset(&environment, 0, sizeof environment);
	environment_take(entries);
	assert_null(environment_socket());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_go_and_the_others_keep_their_order),
		cmocka_unit_test(test_nothing_of_them_is_left_in_memory),
		cmocka_unit_test(test_one_alone_is_the_programs),
		cmocka_unit_test(test_the_mark_says_when_to_make_the_handshake),
		cmocka_unit_test(test_what_is_no_entry_of_ours_starts_no_recorder),
		cmocka_unit_test(test_paths_that_are_too_long_start_no_recorder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
