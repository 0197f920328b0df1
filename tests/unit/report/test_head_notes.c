#include "cmocka_all.h"

#include "base/text.h"
#include "profile/profile.h"
#include "report/head.h"

static void the_same_of_several_processes_is_said_once(void **state)
{
	static const char *const notes[] = {
		"python3 (pid 12): it set a profiler of its own",
		"the kernel dropped reports",
		"ruby (pid 14): it set a profiler of its own",
		"python3 (pid 15): functions are not traced",
		"python3 (pid 12): it set a profiler of its own",
		"sh (pid 16) ran untraced: it ended",
		"sh (pid 17) ran untraced: it ended",
		"odd (pid x): it set a profiler of its own",
	};
	struct profile_info info = { .notes = notes, .note_count = 8 };
	struct text text = { 0 };

	(void)state;
	head_add_notes(&text, &(struct style){ 0 }, &info);
	assert_string_equal(
		text_string(&text),
		"note     python3 (pid 12) and 2 more: it set a profiler of its own\n"
		"note     the kernel dropped reports\n"
		"note     python3 (pid 15): functions are not traced\n"
		"note     sh (pid 16) ran untraced: it ended\n"
		"note     sh (pid 17) ran untraced: it ended\n"
		"note     odd (pid x): it set a profiler of its own\n");
	text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_of_several_processes_is_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
