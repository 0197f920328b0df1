#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/memory.h"

static void out_of_memory_ends_the_tool_with_a_sentence_and_125(void **state)
{
	static const char sentence[] = "fathom: out of memory\n";
	char said[10000] = "";
	size_t len = 0;
	ssize_t count;
	int ends[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		/* Larger than any address space, and no overflow that a multiplication sees. */
		xreallocarray(NULL, SIZE_MAX / 2, 2);
		_exit(0);
	}
	close(ends[1]);
	while ((count = read(ends[0], said + len, sizeof said - 1 - len)) > 0)
		len += (size_t)count;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 125);
	/* A sanitizer may warn first. */
	assert_non_null(strstr(said, sentence));
}

static void a_product_too_large_is_out_of_memory(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		close(STDERR_FILENO);
		xreallocarray(NULL, SIZE_MAX / 4 + 2, 8);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 125);
}

static void nothing_is_memory_too(void **state)
{
	CLEANUP(freep) void *none = xmalloc(0);
	CLEANUP(freep) void *zeroed = xzalloc(0);
	CLEANUP(freep) void *array = xreallocarray(NULL, 0, 8);

	(void)state;
	assert_non_null(none);
	assert_non_null(zeroed);
	assert_non_null(array);
}

static void strings_are_copied(void **state)
{
	CLEANUP(freep) char *whole = xstrdup("whole");
	CLEANUP(freep) char *part = xstrndup("whole", 2);
	CLEANUP(freep) char *made = xasprintf("%s-%d", "x", 7);

	(void)state;
	assert_string_equal(whole, "whole");
	assert_string_equal(part, "wh");
	assert_string_equal(made, "x-7");
}

static void a_scope_closes_its_file(void **state)
{
	int kept;

	(void)state;
	{
		CLEANUP(closep) int none = -1;
		CLEANUP(closep) int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		assert_int_equal(none, -1);
		kept = fd;
	}
	assert_int_equal(fcntl(kept, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
}

static void an_array_grows_by_doubling_and_keeps_its_elements(void **state)
{
	CLEANUP(freep) uint32_t *array = NULL;
	size_t capacity = 0, moves = 0, last = 0;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		array = array_grow(array, i, &capacity, sizeof *array);
		assert_true(capacity > i);
		array[i] = i;
		moves += capacity != last;
		last = capacity;
	}
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(array[i], i);
	assert_true(moves < 15);
}

static void arena_pieces_are_zeroed_aligned_and_apart(void **state)
{
	struct arena arena = { 0 };
	unsigned char *pieces[2000];

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		size_t size = i % 97;

		arena_strndup(&arena, "odd", i % 4 < 3 ? i % 4 : 3);
		pieces[i] = arena_alloc(&arena, size);
		assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
		for (size_t k = 0; k < size; k++)
			assert_int_equal(pieces[i][k], 0);
		memset(pieces[i], (int)(i & 0xff), size);
	}
	for (size_t i = 0; i < 2000; i++) {
		for (size_t k = 0; k < i % 97; k++)
			assert_int_equal(pieces[i][k], i & 0xff);
	}
	arena_done(&arena);
}

static void an_arena_holds_pieces_of_every_size(void **state)
{
	static const size_t sizes[] = { 0, 1, 1000, 4096, 5000, 1 << 16, (1 << 21) + 1, 3 };
	struct arena arena = { 0 };
	char *pieces[sizeof sizes / sizeof *sizes];

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		pieces[i] = arena_alloc(&arena, sizes[i]);
		memset(pieces[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 1; i < sizeof sizes / sizeof *sizes; i++) {
		assert_int_equal(pieces[i][0], i + 1);
		assert_int_equal(pieces[i][sizes[i] - 1], i + 1);
	}
	arena_done(&arena);
	assert_null(arena.head);
}

static void an_arena_string_ends_with_a_nul_and_may_hold_others(void **state)
{
	struct arena arena = { 0 };

	(void)state;
	assert_memory_equal(arena_strndup(&arena, "a\0bc", 3), "a\0b", 4);
	assert_string_equal(arena_strndup(&arena, NULL, 0), "");
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_memory_ends_the_tool_with_a_sentence_and_125),
		cmocka_unit_test(a_product_too_large_is_out_of_memory),
		cmocka_unit_test(nothing_is_memory_too),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(a_scope_closes_its_file),
		cmocka_unit_test(an_array_grows_by_doubling_and_keeps_its_elements),
		cmocka_unit_test(arena_pieces_are_zeroed_aligned_and_apart),
		cmocka_unit_test(an_arena_holds_pieces_of_every_size),
		cmocka_unit_test(an_arena_string_ends_with_a_nul_and_may_hold_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
