/* Which interpreted frames of a thread that runs are believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "remote/agreement.h"
#include "remote/stack.h"

/* "c:3 b:2 a:1", innermost first; names of one letter, each at its line; n: a native frame. */
static void make(struct remote_stack *stack, const char *text)
{
	static const char names[] = "abcdefgh";

	*stack = (struct remote_stack){ 0 };
	for (const char *at = text; *at != '\0'; at++) {
		struct stack_frame frame = { .kind = STACK_NATIVE };

		if (*at == ' ')
			continue;
		if (*at != 'n') {
			frame.kind = STACK_PYTHON;
			frame.name = strchr(names, *at);
			frame.line = (uint32_t)(at[2] - '0');
			at += 2;
		}
		assert_true(stack_push(stack, &frame));
	}
}

static void what_is_marked_begins_where_two_reads_differ(void **state)
{
	static const struct {
		const char *before, *now, *marks;
	} cases[] = {
		{ "b:2 a:1", "b:2 a:1", ".." },
		{ "b:2 a:1", "b:5 a:1", ".." },          /* its line moved on; it is there */
		{ "c:3 b:2 a:1", "c:3 b:4 a:1", "x.." }, /* b has made another call */
		{ "c:3 b:2 a:1", "b:2 a:1", ".." },
		{ "b:2 a:1", "c:3 b:2 a:1", "x.." },
		{ "d:1 b:2 a:1", "c:3 b:2 a:1", "x.." },
		{ "", "b:2 a:1", "xx" },
		{ "b:2 a:1", "n n b:2 n a:1 n", "......" },
		{ "b:2 n a:1", "n c:9 n b:2 a:1", ".x..." },
		{ "b:2 h:1", "b:2 a:1", "xx" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct remote_stack before, now;
		size_t marked = 0;

		make(&before, cases[i].before);
		make(&now, cases[i].now);
		const size_t found = agreement_mark(&before, &now);

		for (size_t j = 0; j < now.count; j++) {
			assert_int_equal(now.frames[j].is_doubtful, cases[i].marks[j] == 'x');
			marked += now.frames[j].is_doubtful;
		}
		assert_int_equal(found, marked);
		stack_done(&before);
		stack_done(&now);
	}
}

static void what_was_marked_by_one_read_stays_so(void **state)
{
	struct remote_stack first, second, now;

	(void)state;
	make(&first, "d:1 b:2 a:1");
	make(&second, "c:3 b:2 a:1");
	make(&now, "c:3 b:2 a:1");
	assert_int_equal(agreement_mark(&first, &now), 1);
	assert_int_equal(agreement_mark(&second, &now), 1);
	assert_true(now.frames[0].is_doubtful);
	assert_false(now.frames[1].is_doubtful);
	stack_done(&first);
	stack_done(&second);
	stack_done(&now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_marked_begins_where_two_reads_differ),
		cmocka_unit_test(what_was_marked_by_one_read_stays_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
