#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/notes.h"

static void no_note_was_added_to_new_notes(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();

	(void)state;
	assert_int_equal(notes_count(notes), 0);
}

static void a_note_added_again_is_counted_and_not_repeated(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	uint64_t times;

	(void)state;
	notes_add(notes, "cannot enter %s", "ls");
	notes_add(notes, "cannot enter %s", "cat");
	notes_add(notes, "cannot enter ls");
	assert_int_equal(notes_count(notes), 2);
	assert_string_equal(notes_text(notes, 0, &times), "cannot enter ls");
	assert_int_equal(times, 2);
	assert_string_equal(notes_text(notes, 1, &times), "cannot enter cat");
	assert_int_equal(times, 1);
	assert_string_equal(notes_text(notes, 1, NULL), "cannot enter cat");
}

static void many_notes_keep_their_order(void **state)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();

	(void)state;
	for (int i = 0; i < 1000; i++)
		notes_add(notes, "%d", i);
	assert_int_equal(notes_count(notes), 1000);
	assert_string_equal(notes_text(notes, 0, NULL), "0");
	assert_string_equal(notes_text(notes, 999, NULL), "999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_note_was_added_to_new_notes),
		cmocka_unit_test(a_note_added_again_is_counted_and_not_repeated),
		cmocka_unit_test(many_notes_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
